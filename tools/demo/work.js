// Forced reflows, as careless pages have them, and some that are batched.
let step = 0;

function thrash() {
	let sum = 0;
	for (const cell of document.querySelectorAll('.row:nth-child(3n) .cell')) {
		cell.style.width = 20 + (step + sum) % 30 + 'px';
		sum += cell.offsetWidth;	// reads right after the write: a reflow each
	}
	return sum;
}

function recolour() {
	for (const cell of document.querySelectorAll('.cell'))
		cell.classList.toggle('hot', (cell.textContent | 0) % 5 === step % 5);
}

addEventListener('tick', recolour);
setInterval(() => {
	step++;
	thrash();
	dispatchEvent(new Event('tick'));
	if (step % 5 === 0)
		new Function('return ' + step)();
	if (step % 10 === 0)
		build(40);
}, 100);
