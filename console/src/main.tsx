import { setNonce } from "get-nonce";
import { createRoot } from "react-dom/client";
import { Console } from "./app/Console";
import { nonce } from "./app/nonce";
import "./ui/styles";

setNonce(nonce); // for the package that keeps what is behind an open panel from scrolling
createRoot(document.getElementById("root")!).render(<Console />);
