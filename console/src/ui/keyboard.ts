/** Closes the keyboard of a touch screen once what was written is sent: it stands over what comes of it. With any other keyboard the focus stays. */
export function closeKeyboard(): void {
  if (matchMedia("(pointer: coarse)").matches && document.activeElement instanceof HTMLElement) document.activeElement.blur();
}
