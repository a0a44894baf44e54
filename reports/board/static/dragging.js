// Dragging knights to cells by mouse, pen or finger.

const FAR = 6; // pixels after which a press is a drag, not a click

/**
 * Make knights in `area` draggable to cells of a board in it. `mayDrag` is called with the cell, or another holder of a
 * knight; `onDrop` is called with the target cell.
 */
export function letDrag(area, mayDrag, onDrop) {
  area.addEventListener("pointerdown", (event) => {
    const holder = event.target.closest("[data-cell], [data-seat]");
    const knight = holder?.querySelector(".knight");
    if (!knight || event.button !== 0 || !mayDrag(holder)) return;
    follow(event, knight, holder, onDrop);
  });
}

function follow(press, knight, holder, onDrop) {
  let over = null, isDragged = false;
  const move = (event) => {
    if (event.pointerId !== press.pointerId) return;
    const [x, y] = [event.clientX - press.clientX, event.clientY - press.clientY];
    isDragged ||= Math.hypot(x, y) > FAR;
    if (!isDragged) return;
    event.preventDefault();
    holder.classList.add("dragged");
    knight.style.transform = `translate(${x}px, ${y}px)`;
    over?.classList.remove("over");
    over = document.elementFromPoint(event.clientX, event.clientY)?.closest("button[data-cell]") ?? null;
    over?.classList.add("over");
  };
  const end = (event) => {
    if (event.pointerId !== press.pointerId) return;
    for (const [name, listener] of Object.entries(listeners)) document.removeEventListener(name, listener);
    holder.classList.remove("dragged");
    over?.classList.remove("over");
    knight.style.transform = "";
    if (!isDragged || event.type !== "pointerup") return;
    ignoreClick();
    if (!over || over === holder) return;
    over.parentElement.classList.add("dropped");
    onDrop(Number(over.dataset.cell));
  };
  const listeners = { pointermove: move, pointerup: end, pointercancel: end };
  for (const [name, listener] of Object.entries(listeners)) document.addEventListener(name, listener);
}

/** Without this, a drag that ends where it began would count as a click on that cell. */
function ignoreClick() {
  const ignore = (event) => event.stopPropagation();
  document.addEventListener("click", ignore, { capture: true, once: true });
  setTimeout(() => document.removeEventListener("click", ignore, { capture: true }));
}
