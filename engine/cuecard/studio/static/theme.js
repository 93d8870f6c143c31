// Before the page is drawn: the theme that was chosen here.
try { document.documentElement.dataset.theme = localStorage.getItem("cuecard-theme") || "" } catch { /* no storage, no wish */ }
