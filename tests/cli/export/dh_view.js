// SPDX-License-Identifier: MIT
// dh_view.js PATH-OF-VALGRIND'S-DH_VIEW FILE: what Valgrind's viewer shows of
// a DHAT file: its own code, with a document that collects text. Fails on
// whatever the viewer refuses.
"use strict";
const fs = require("fs");
const vm = require("vm");

class Element {
  constructor(tag) {
    this.tag = tag;
    this.childNodes = [];
    this.classList = { add() {}, remove() {}, toggle() {} };
    this.selectedIndex = 0;
    this.text = "";
  }
  appendChild(child) {
    child.parentNode = this;
    this.childNodes.push(child);
    return child;
  }
  replaceChild(child, old) {
    child.parentNode = this;
    this.childNodes[this.childNodes.indexOf(old)] = child;
  }
  set textContent(text) {
    this.childNodes = [];
    this.text = text;
  }
  get textContent() {
    return this.text + this.childNodes.map((c) => c.textContent).join("");
  }
  set innerHTML(text) {
    throw new Error("markup is made of text: " + text);
  }
  cloneNode() {
    return new Element(this.tag);
  }
  addEventListener() {}
  click() {}
}

const body = new Element("body");
const context = vm.createContext({
  document: {
    body,
    location: { search: "" },
    createElement: (tag) => new Element(tag),
    createTextNode: (text) => Object.assign(new Element("#text"), { text }),
  },
  window: {},
  performance,
  URLSearchParams,
  console,
  file: fs.readFileSync(process.argv[3], "utf8"),
});
vm.runInContext(
  fs.readFileSync(process.argv[2], "utf8") +
    `
onLoad();
gFilename = "file";
gData = JSON.parse(file);
buildTree();
displayTree(0, 0, 0);
let kids = (t) => t._kids ? t._kids.reduce((n, k) => n + kids(k), 0)
                          : t._totalBytes;
if (kids(gRoot) !== gRoot._totalBytes || !(gRoot._totalBytes > 0))
  throw new Error("the bytes of the stacks are not those of the root");
`,
  context
);
process.stdout.write(body.textContent.replace(/\n*$/, "\n"));
