import { Component, type ReactNode } from "react";
import { Broken } from "./Broken";

/** Shows that the console itself has failed, in place of an empty page. */
export class Faulty extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError() {
    return { broken: true };
  }

  override render() {
    return this.state.broken ? <Broken /> : this.props.children;
  }
}
