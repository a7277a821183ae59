if (!window.reaching) {  // on a telephone a wide table is moved sideways: the keyboard reaches it, in every browser
  window.reaching = true;
  let waits = 0;
  const reach = () => {
    waits = 0;
    document.querySelectorAll(":is(.stMarkdown, .stTable) table").forEach(one => {
      if (one.scrollWidth > one.clientWidth + 1) one.tabIndex = 0;
      else one.removeAttribute("tabindex");
    });
  };
  const soon = () => { if (innerWidth <= 600) waits ||= requestAnimationFrame(reach); };
  new MutationObserver(soon).observe(document.body, { childList: true, subtree: true });
  addEventListener("resize", soon);
  addEventListener("click", ({ target }) => {  // on a telephone the menu lies over the page that was chosen in it
    if (innerWidth < 768 && target.closest?.("[data-testid=stSidebarNavLink]"))
      setTimeout(() => document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click());
  });
  addEventListener("keydown", ({ key, target }) => key === "Enter" && target.matches?.("input") && setTimeout(() => { target.scrollLeft = 0; }));  // a sentence from its start
  soon();
}
