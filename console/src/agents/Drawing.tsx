import { Text } from "@mantine/core";
import { IconAlertTriangle, IconFlagOff, IconFlag, IconMessage, IconMessageQuestion, IconPlayerPlay, IconSearch, IconVariable, IconWorld, type Icon } from "@tabler/icons-react";
import { Background, BaseEdge, Controls, type Edge, type EdgeProps, Handle, MarkerType, type Node, type NodeProps, Position, ReactFlow, type ReactFlowInstance } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { useEffect, useMemo, useState } from "react";
import { useText } from "../text";
import "./drawing.css";
import { layout, type Line, size } from "./layout";
import { type Change, type Chosen, connected, nameOf } from "./steps";
import { type Check, faultsAt } from "./useCheck";
import type { JsonObject } from "./value";

type PartNode = Node<{ kind: "input" | "step" | "output"; number: number; name: string; type: string; faulty: boolean }, "part">;

const icons: Record<string, Icon> = { set: IconVariable, search: IconSearch, ask: IconMessageQuestion, chat: IconMessage, http: IconWorld, fail: IconFlagOff, input: IconPlayerPlay, output: IconFlag };

const nodeTypes = { part: Part };
const edgeTypes = { fed: Fed };

const whole = { maxZoom: 1, padding: 0.1 };

/** The diagram as a drawing: what feeds what, as the platform reads it in the expressions. */
export function Drawing({ steps, check, chosen, choose, change }: {
  steps: readonly JsonObject[]; check: Check | undefined; chosen: Chosen; choose: (at: Chosen) => void; change: Change | undefined;
}) {
  const { text } = useText();
  const { nodes, edges } = useMemo(() => {
    const { parts, lines } = layout(steps, check);
    const nodes = parts.map(({ id, kind, at, x, y }): PartNode => ({
      // The drawing is told the size: it would otherwise measure parts anew with each change, and draw no lines meanwhile.
      id, type: "part", position: { x, y }, ...size, measured: size, selected: kind === "step" ? chosen === at : kind === "output" && chosen === "output",
      ariaLabel: kind === "step" ? text.agents.stepOf(at + 1, nameOf(steps[at]!, at), String(steps[at]!.type ?? "")) : kind === "input" ? text.agents.input : text.agents.output,
      selectable: kind !== "input", focusable: kind !== "input",
      data: {
        kind, number: at + 1, name: kind === "step" ? nameOf(steps[at]!, at) : kind === "input" ? text.agents.input : text.agents.output,
        type: kind === "step" ? String(steps[at]!.type ?? "") : kind, faulty: kind !== "input" && faultsAt(check, kind === "step" ? `steps[${at}]` : "output").length > 0,
      },
    }));
    const edges = lines.map(({ from, to, feeds, sideways, via }): Edge => ({
      id: `${from}-${to}-${feeds}`, source: from, target: to, sourceHandle: sideways ? "right" : "bottom", targetHandle: sideways ? "left" : "top",
      className: feeds ? "feeds" : "follows", focusable: false, selectable: false, ...(feeds ? { type: "fed", data: { via }, markerEnd: { type: MarkerType.ArrowClosed, color: "var(--mantine-color-anchor)" } } : {}),
    }));
    return { nodes, edges };
  }, [steps, check, chosen, text]);
  const [flow, setFlow] = useState<ReactFlowInstance<PartNode, Edge>>();
  // What was added is seen, wherever it stands.
  useEffect(() => void flow?.fitView(whole), [flow, steps.length]);
  const pick = (id: string) => choose(id === "output" ? "output" : Number(id));
  return (
    <div className="drawing" role="group" aria-label={text.agents.drawing}>
      <ReactFlow
        nodes={nodes} edges={edges} nodeTypes={nodeTypes} edgeTypes={edgeTypes} onInit={setFlow} fitViewOptions={whole} minZoom={0.2} maxZoom={1.5} proOptions={{ hideAttribution: true }}
        nodesDraggable={false} nodesConnectable={change !== undefined} deleteKeyCode={null} edgesFocusable={false} zoomOnScroll={false} preventScrolling={false}
        onNodesChange={(changes) => changes.forEach((one) => void (one.type === "select" && one.selected && pick(one.id)))}
        isValidConnection={({ source, target }) => source !== "input" && source !== "output" && target !== "input" && source !== target}
        onConnect={({ source, target }) => {
          const [from, to] = [Number(source), target === "output" ? "output" as const : Number(target)];
          change?.((diagram) => connected(diagram, from, to));
          // A step that read what came after it stands right behind that now.
          choose(to !== "output" && to < from ? from : to);
        }}
        ariaLabelConfig={{
          "node.a11yDescription.default": text.agents.drawingHelp, "controls.ariaLabel": text.agents.controls, "controls.zoomIn.ariaLabel": text.agents.zoomIn,
          "controls.zoomOut.ariaLabel": text.agents.zoomOut, "controls.fitView.ariaLabel": text.agents.fit,
        }}
      >
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
      <Text size="xs" c="dimmed" className="legend">{text.agents.legend}</Text>
    </div>
  );
}

/** A line down to what reads, beside the parts of the rows between. */
function Fed({ sourceX, sourceY, targetX, targetY, data, markerEnd }: EdgeProps<Edge<Pick<Line, "via">>>) {
  const to = (fromY: number, x: number, y: number, fromX: number) => `C${fromX} ${(fromY + y) / 2} ${x} ${(fromY + y) / 2} ${x} ${y}`;
  let [x, y, path] = [sourceX, sourceY, `M${sourceX} ${sourceY}`];
  for (const one of data?.via ?? []) {
    path += `${to(y, one.x, one.y, x)}V${one.y + size.height}`;
    [x, y] = [one.x, one.y + size.height];
  }
  return <BaseEdge path={path + to(y, targetX, targetY, x)} {...(markerEnd ? { markerEnd } : {})} />;
}

function Part({ data: { kind, number, name, type, faulty }, selected }: NodeProps<PartNode>) {
  const { text } = useText();
  const Icon = icons[type] ?? IconVariable;
  return (
    <div className="part" data-kind={kind} data-selected={selected || undefined}>
      <Handle id="top" type="target" position={Position.Top} isConnectable={kind !== "input"} />
      <Handle id="left" type="target" position={Position.Left} isConnectable={false} />
      <Icon size={16} aria-hidden />
      <span className="name">{kind === "step" && <span className="quiet">{number}. </span>}{name}</span>
      {faulty && <IconAlertTriangle size={14} role="img" aria-label={text.agents.faulty} />}
      <Handle id="right" type="source" position={Position.Right} isConnectable={false} />
      <Handle id="bottom" type="source" position={Position.Bottom} isConnectable={kind === "step"} />
    </div>
  );
}
