import { defineConfig } from "vitest/config";

// `npm run dev` beside a running `trocar serve --port 8787` (or `npm run fake`).
const server = process.env.TROCAR_SERVER ?? "http://127.0.0.1:8787";
// It answers only its own page, so requests are sent on under its name.
const theServer = { target: server, changeOrigin: true, headers: { origin: server } };

export default defineConfig({
  build: {
    target: "es2022",
    // The server's content policy forbids inline scripts and styles: everything stays a file.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // three.js is one chunk of its own, loaded when the first picture is drawn.
    chunkSizeWarningLimit: 1500,
  },
  server: {
    proxy: { "/api": theServer, "/ws": { ...theServer, ws: true } },
  },
  test: { include: ["src/**/*.test.{ts,tsx}"] },
});
