// SPDX-License-Identifier: MIT
// memlog_node: V8's collections in the memory event log, up to a second late.
//
//     node -r ./memlog_node.js app.js
//
// memlog_node.node, of memlog_node.c, is beside it. It needs node 18.15.
const { log } = require("./memlog_node.node");
const { GCProfiler } = require("v8");

let profiler = new GCProfiler();
profiler.start();

function put() {
  const { statistics } = profiler.stop();
  profiler = new GCProfiler();
  profiler.start();
  for (const { gcType, cost, beforeGC, afterGC } of statistics) {
    log(
      beforeGC.heapStatistics.usedHeapSize,
      afterGC.heapStatistics.usedHeapSize,
      Math.round(cost * 1000), // us to ns
      gcType,
    );
  }
}

setInterval(put, 1000).unref();
process.on("exit", put);
