// SPDX-License-Identifier: MIT
import { render } from "preact";
import { readPage } from "./data/page";
import { readProfile } from "./data/profile";
import { display } from "./data/display";
import "./style.css";

async function main(): Promise<void> {
  const root = document.getElementById("app")!;
  try {
    const { head, columns } = await readPage();
    const profile = readProfile(head, columns);
    document.title = display(head.title);
    render(<h1>{document.title}: {profile.samples.count}</h1>, root);
  } catch (error) {
    render(<p class="opening">{String(error)}</p>, root);
  }
}

void main();
