// SPDX-License-Identifier: MIT
// Side: beside the functions, the source of the chosen one, or who calls it
// and what it calls.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { display } from "../data/display";
import { type Call, callsOf } from "../model/calls";
import { change, percent } from "../model/amount";
import type { Totals } from "../model/totals";
import { useAnalysis } from "../state/analysis";
import { useStore } from "../state/store";
import { Tabs } from "../ui/tabs";
import { Assembly } from "./assembly";
import { Cost, Part } from "./cost_cells";
import { listName } from "./frame_text";
import { Source } from "./source";

function CallRow(props: { call: Call; end: string; totals: Totals }) {
  const [, set] = useStore();
  const { names } = useAnalysis();
  const { call, end, totals } = props;
  const f = call.function;
  return (
    <tr>
      <td class="costs">
        {totals.isGrowth ? (
          <Part value={change(call.b - call.a, totals.unit)} />
        ) : totals.b ? (
          <>
            <Part value={percent(call.a, totals.a.all)} />
            <Part value={percent(call.b, totals.b.all)} />
          </>
        ) : (
          <Cost value={call.a} all={totals.a.all} unit={totals.unit} />
        )}
      </td>
      <td class="name">
        {f < 0 ? (
          end
        ) : (
          <button type="button" onClick={() => set({ function: f })}>
            {display(listName(names.function(f)), 200)}
          </button>
        )}
      </td>
    </tr>
  );
}

const mostRows = 200;

function CallTable(props: {
  title: string;
  calls: Call[];
  end: string;
  totals: Totals;
}): JSX.Element {
  const { title, calls, end, totals } = props;
  return (
    <table class="calls">
      <caption>{title}</caption>
      <tbody>
        {calls.slice(0, mostRows).map((call) => (
          <CallRow
            key={call.function}
            call={call}
            end={end}
            totals={totals}
          />
        ))}
        {calls.length > mostRows && (
          <tr>
            <td colSpan={2}>and {calls.length - mostRows} more</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function Calls(): JSX.Element {
  const [state, set] = useStore();
  const analysis = useAnalysis();
  const { order } = analysis.functions(state);
  const f = state.function;
  const calls = useMemo(
    () => (f === null ? null : callsOf(order, f)),
    [order, f],
  );
  if (f === null || !calls || f >= analysis.profile.functions.count)
    return (
      <p class="empty">Choose a function to see its callers and callees.</p>
    );
  return (
    <div class="both-calls" tabIndex={0} aria-label="Callers and callees">
      <CallTable
        title="Called by"
        calls={calls.callers}
        end="the start of the thread"
        totals={order.totals}
      />
      <p class="chosen">
        <b>{display(analysis.names.function(f), 200)}</b>
        <button
          type="button"
          onClick={() => set({ focus: f, shape: "callers", ...toTree(state.tab) })}
        >
          Tree of its callers
        </button>
      </p>
      <CallTable
        title="Calls"
        calls={calls.callees}
        end="its own code"
        totals={order.totals}
      />
    </div>
  );
}

function toTree(tab: string) {
  return tab === "heap"
    ? { inner: "tree" as const }
    : { tab: "tree" as const };
}

export function Side(): JSX.Element {
  const [state, set] = useStore();
  return (
    <aside class="side" aria-label="The chosen function">
      <div class="bar">
        <Tabs
          label="What is shown of the chosen function"
          panel="side-panel"
          tabs={[
            { id: "source", text: "Source" },
            { id: "code", text: "Assembly" },
            { id: "calls", text: "Callers and callees" },
          ]}
          chosen={state.side}
          onChoose={(side) => set({ side })}
        />
      </div>
      <div
        id="side-panel"
        class="panel"
        role="tabpanel"
        aria-labelledby={`side-panel-${state.side}`}
      >
        {state.side === "source" && <Source />}
        {state.side === "code" && <Assembly />}
        {state.side === "calls" && <Calls />}
      </div>
    </aside>
  );
}
