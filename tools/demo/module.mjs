export const started = Date.now();
requestAnimationFrame(function frame() {
	document.querySelector('h1').style.opacity = 0.5 + 0.5 * Math.abs(Math.sin((Date.now() - started) / 500));
	setTimeout(() => requestAnimationFrame(frame), 50);
});
