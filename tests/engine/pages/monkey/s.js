setTimeout(function () { console.log("timer"); }, 100);
document.addEventListener("click", function () { console.log("click"); }, false);
