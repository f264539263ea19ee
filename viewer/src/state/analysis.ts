// SPDX-License-Identifier: MIT
// Analysis: what the model says for a state. The latest answers are kept:
// views ask at every drawing.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import {
  hasTime,
  type HeapStacks,
  type Profile,
  type Snapshot,
} from "../data/profile";
import { type FunctionCost, functionTable } from "../model/function_table";
import { growing, pairOf, weighGrowth } from "../model/growth";
import { Names } from "../model/names";
import { type Certainty, guessedNodes } from "../model/quality";
import { makeTree, type Shape } from "../model/shapes";
import { addTotals, Order, partOf } from "../model/totals";
import type { Tree } from "../model/tree";
import {
  isDiff,
  isSummed,
  type Selection,
  selectAll,
  type Weights,
  weighHeap,
  weighTime,
} from "../model/weights";
import { initial, type State } from "./state";

// The kind of heaps' blocks that compares two snapshots.
export const growth = "growth";

const labels = ["[truncated]", "[lost]", "[no stack]"];

// The latest few answers by their questions.
class Kept<T> {
  private readonly answers = new Map<string, T>();

  constructor(private readonly room: number) {}

  get(question: string, make: () => T): T {
    let answer = this.answers.get(question);
    if (answer === undefined) answer = make();
    this.answers.delete(question);
    this.answers.set(question, answer);
    if (this.answers.size > this.room)
      this.answers.delete(this.answers.keys().next().value!);
    return answer;
  }
}

export class Analysis {
  readonly names: Names;
  readonly isDiff: boolean;
  private readonly trees = new Kept<Tree>(6);
  private readonly weighed = new Kept<Weights>(4);
  private readonly orders = new Kept<Order>(4);
  private readonly tables = new Kept<FunctionCost[]>(2);

  constructor(readonly profile: Profile) {
    this.names = new Names(profile);
    this.isDiff = isDiff(profile);
  }

  tree(shape: Shape): Tree {
    return this.trees.get(JSON.stringify(shape), () =>
      makeTree(this.profile, shape, (other) => this.tree(other)),
    );
  }

  selection(state: State): Selection {
    const selection = selectAll(this.profile);
    if (state.threads) {
      selection.threads.fill(0);
      for (const t of state.threads) selection.threads[t] = 1;
    }
    if (state.range) [selection.from, selection.to] = state.range;
    return selection;
  }

  // Which blocks of heaps are told of, the chosen kind first to fall back on.
  heapKinds(): string[] {
    const kinds = new Set(this.profile.heaps.flatMap((h) => h.kinds));
    if (this.grownHeap(initial)) kinds.add(growth);
    return [...kinds];
  }

  // Whose growth is shown: of the chosen process, or of the first that has two
  // snapshots. Null: of none, or two recordings are compared.
  grownHeap({ heap }: State): HeapStacks | null {
    const heaps = growing(this.profile);
    if (this.isDiff || !heaps.length) return null;
    const at = heap !== null && heaps.includes(heap) ? heap : heaps[0];
    return this.profile.heaps[at];
  }

  // The two snapshots that are compared, if growth is shown.
  snapshots(state: State): [Snapshot, Snapshot] | null {
    const heap = this.grownHeap(state);
    if (!heap || this.heapKind(state) !== growth || !this.isHeap(state))
      return null;
    return pairOf(heap.snapshots, state.since, state.until);
  }

  heapKind({ kind }: State): string {
    const kinds = this.heapKinds();
    if (kinds.includes(kind)) return kind;
    if (kinds.includes("unreported")) return "live";
    return kinds.includes("peak") ? "peak" : (kinds[0] ?? "");
  }

  weights(state: State): Weights {
    return this.weighed.get(this.question(state), () => this.weigh(state));
  }

  // Whether what is chosen can be shown before the page is read to its end.
  isKnown(state: State): boolean {
    return (
      this.profile.isWhole ||
      this.isHeap(state) ||
      isSummed(this.selection(state), state.weight)
    );
  }

  private weigh(state: State): Weights {
    const { profile } = this;
    if (!this.isHeap(state))
      return weighTime(profile, this.selection(state), state.weight);
    const pair = this.snapshots(state);
    return pair
      ? weighGrowth(profile, this.grownHeap(state)!, pair, state.unit)
      : weighHeap(profile, state.heap, this.heapKind(state), state.unit);
  }

  order(state: State, shape: Shape = shapeOf(state)): Order {
    return this.orders.get(JSON.stringify(shape) + this.question(state), () => {
      const tree = this.tree(shape);
      return new Order(tree, addTotals(tree, this.weights(state)));
    });
  }

  // Whether it is known of what is shown how much memory reporters know.
  hasUnreported(state: State): boolean {
    return (
      this.isHeap(state) &&
      !this.isDiff &&
      this.heapKind(state) === "live" &&
      this.heapKinds().includes("unreported")
    );
  }

  // How much of each node's live blocks they do not know, from 0 to 1.
  unreported({ heap, unit }: State, order: Order): (node: number) => number {
    const weights = weighHeap(this.profile, heap, "unreported", unit);
    return partOf(addTotals(order.tree, weights), order.totals);
  }

  // The shape whose nodes stand for frames, the root at the top.
  downShape(state: State): Shape {
    const shape = shapeOf(state);
    const focus = shape.kind === "callers" ? null : shape.focus;
    return { ...shape, focus, kind: "down" };
  }

  functions(state: State): { order: Order; rows: FunctionCost[] } {
    const shape = this.downShape(state);
    const order = this.order(state, shape);
    const rows = this.tables.get(
      JSON.stringify(shape) + this.question(state),
      () =>
        functionTable(order.tree, order.totals, this.profile.functions.count),
    );
    return { order, rows };
  }

  // All that weights depend on.
  private question(state: State): string {
    return this.isHeap(state)
      ? JSON.stringify([
          "heap",
          state.heap,
          state.kind,
          state.unit,
          state.since,
          state.until,
        ])
      : JSON.stringify([state.weight, state.threads, state.range]);
  }

  private isHeap({ tab }: State): boolean {
    return tab === "heap" || !hasTime(this.profile);
  }

  // How a tree's node is called: a guess has a mark.
  nodeName(shape: Shape, tree: Tree): (node: number) => string {
    const keyName = this.keyName(shape);
    if (shape.kind !== "down") return (node) => keyName(tree.key[node]);
    const guessed = guessedNodes(this.profile, tree);
    return (node) => (guessed[node] ? "~" : "") + keyName(tree.key[node]);
  }

  // Whether a function stands for a missing part of a stack.
  isLabel(f: number): boolean {
    const { functions, strings } = this.profile;
    return (
      functions.module[f] === 0xffffffff &&
      labels.includes(strings.text(functions.name[f]))
    );
  }

  // How sure a tree's nodes are.
  certainty(shape: Shape, tree: Tree): (node: number) => Certainty {
    const isLabel = (node: number) =>
      shape.kind !== "module" && node > 0 && this.isLabel(tree.key[node]);
    const guessed =
      shape.kind === "down" ? guessedNodes(this.profile, tree) : null;
    return (node) =>
      isLabel(node) ? "missing" : guessed?.[node] ? "guessed" : "sure";
  }

  // How a tree's keys are called.
  keyName(shape: Shape): (key: number) => string {
    return shape.kind === "module"
      ? (key) => this.names.module(key)
      : (key) => this.names.function(key);
  }
}

export function shapeOf(state: State): Shape {
  const { shape: kind, focus, collapse, merged, dropped, leaves, fold } = state;
  return { kind, focus, collapse, merged, dropped, leaves, fold };
}

export const AnalysisContext = createContext<Analysis>(
  null as unknown as Analysis,
);

export function useAnalysis(): Analysis {
  return useContext(AnalysisContext);
}
