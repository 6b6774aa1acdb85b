package node

import (
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// notRun ends the reason of a missing observation.
const notRun = " was not run"

// noDocument ends the reason of an output without figures and without an error.
const noDocument = " has no document"

// observed is one observation with its figures, or the reason why it has none.
type observed[T any] struct {
	obs    check.Observation
	fig    T
	reason string // empty if fig is valid
}

func (o observed[T]) ok() bool { return o.reason == "" }

// host is everything observed on one host.
type host struct {
	name   string
	before observed[smiFigures]
	after  observed[smiFigures]
	links  observed[linkFigures]
	hcas   observed[hcaFigures]
	diag   observed[diagFigures]
	kernel observed[nvidia.XidLog]
	facts  observed[hostFigures]
	load   observed[loadFigures]
	// manager is the fabric manager of the node's NVSwitches.
	manager observed[nvidia.FabricManager]
	// bridges are the PCIe bridges.
	bridges observed[bridgeFigures]
	// pods hold GPUs of the node.
	pods []kube.Holder
	// imex is the IMEX daemon of an NVLink domain of several nodes.
	imex observed[nvidia.IMEX]
	// linkErrors are the NVLink error counters before and after the diagnostic.
	linkErrors [2]observed[errorFigures]
	// previous is the nvidia-smi of the round before, of a low-load watch.
	previous observed[smiFigures]
	// earlierKernel is the kernel log of the rounds before, of a low-load watch.
	earlierKernel observed[nvidia.XidLog]
}

// hosts groups the observations by host of the inventory.
func (g *Gate) hosts(obs []check.Observation) []*host {
	byHost := map[string][]check.Observation{}
	for _, o := range obs {
		byHost[o.Target] = append(byHost[o.Target], o)
	}
	pods := last[podFigures](byHost[onCluster], kindPods)
	var out []*host
	for _, n := range g.site.Inventory.Nodes {
		of, holders := byHost[n.Name], pods.fig.Nodes[n.Name]
		if now := last[podFigures](of, kindPods); now.ok() {
			holders = now.fig.Nodes[n.Name] // evidence of earlier releases has the pods of the start alone
		}
		counters := [2]string{kindErrorsBefore, kindErrorsAfter}
		if g.lowLoad {
			counters = [2]string{kindErrorsPrevious, kindErrorsBefore}
		}
		out = append(out, &host{
			name:       n.Name,
			before:     last[smiFigures](of, kindBefore),
			after:      last[smiFigures](of, kindAfter),
			links:      last[linkFigures](of, kindNVLinks),
			hcas:       last[hcaFigures](of, kindHCAs),
			diag:       last[diagFigures](of, kindDiag),
			kernel:     last[nvidia.XidLog](of, kindKernel),
			pods:       holders,
			facts:      last[hostFigures](of, kindHost),
			load:       last[loadFigures](of, kindLoad),
			manager:    last[nvidia.FabricManager](of, kindManager),
			bridges:    last[bridgeFigures](of, kindBridges),
			imex:       last[nvidia.IMEX](of, kindIMEX),
			linkErrors: [2]observed[errorFigures]{last[errorFigures](of, counters[0]), last[errorFigures](of, counters[1])},
			previous:   last[smiFigures](of, kindPrevious),

			earlierKernel: last[nvidia.XidLog](of, kindKernelPrevious),
		})
	}
	return out
}

// last decodes the last observation of a kind.
func last[T any](obs []check.Observation, kind string) observed[T] {
	of := check.OfKind(obs, kind)
	if len(of) == 0 {
		return observed[T]{reason: kind + notRun}
	}
	o := observed[T]{obs: of[len(of)-1]}
	var err error
	if o.fig, err = check.Decode[T](o.obs); err != nil {
		o.reason = err.Error()
	}
	return o
}

// documents are the host's nvidia-smi documents, oldest first.
func (h *host) documents() []document {
	var out []document
	for _, s := range []observed[smiFigures]{h.before, h.after} {
		if s.ok() && s.fig.Log != nil {
			out = append(out, document{obs: s.obs, log: s.fig.Log})
		}
	}
	return out
}

// document is one nvidia-smi document.
type document struct {
	obs check.Observation
	log *nvidia.SMILog
}

// latest is the newest document.
func (h *host) latest() (document, bool) {
	docs := h.documents()
	if len(docs) == 0 {
		return document{}, false
	}
	return docs[len(docs)-1], true
}

// span are the documents before and after the time over which counters are compared: that of the
// diagnostic or, for a low-load watch, since the previous round.
func (h *host) span() (was, is document, ok bool) {
	docs := h.documents()
	if h.previous.ok() && h.previous.fig.Log != nil {
		docs = append([]document{{obs: h.previous.obs, log: h.previous.fig.Log}}, docs...)
	}
	if len(docs) < 2 {
		return document{}, document{}, false
	}
	return docs[0], docs[len(docs)-1], true
}

// nvml is the error of NVML's initialisation and its observation; "" without an error.
func (h *host) nvml() (string, check.Observation) {
	for _, s := range []observed[smiFigures]{h.after, h.before} {
		if s.ok() && s.fig.Trouble.NVML != "" {
			return s.fig.Trouble.NVML, s.obs
		}
	}
	return "", check.Observation{}
}
