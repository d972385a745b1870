// A file's text, which Vite puts into the page.
declare module '*?raw' {
  const text: string;
  export default text;
}
