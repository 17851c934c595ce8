function reflows(n) {
	let sum = 0;
	for (let i = 0; i < n; i++) {
		document.body.style.paddingLeft = i % 7 + 'px';
		sum += document.body.offsetHeight;
	}
	return sum;
}
steps++;
