import { four } from './four.mjs';
steps += four();
for (let i = 0; i < 3; i++)
	document.body.click();
requestAnimationFrame(() => { document.body.classList.add('framed'); });
