steps++;
let ticks = 0;
const timer = setInterval(() => {
	reflows(2);
	for (const p of document.querySelectorAll('.item' + ticks % 5))
		p.classList.toggle('wide');
	if (++ticks === 20) {
		clearInterval(timer);
		eval('steps++');
		done = true;
		document.title = 'done';
	}
}, 30);
addEventListener('click', () => late++);
