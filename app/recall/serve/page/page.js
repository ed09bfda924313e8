"use strict";

// The terminal is textual.js's; it tells how it stands by classes of the body.
addEventListener("DOMContentLoaded", () => {
  const again = document.querySelector(".closed button");
  again.addEventListener("click", () => location.reload());
  new MutationObserver(() => {
    const ended = document.body.classList.contains("-closed");
    const keys = ended ? again : document.querySelector(".xterm-helper-textarea");
    if (keys && keys !== document.activeElement) keys.focus();
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
});
