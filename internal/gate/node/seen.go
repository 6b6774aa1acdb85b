package node

import (
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// seen is one observation with its figures, or why there are none.
type seen[T any] struct {
	obs  check.Observation
	fig  T
	why  string // empty when fig is good
	kind string
}

func (s seen[T]) ok() bool { return s.why == "" }

// host is everything that was seen of one host.
type host struct {
	name   string
	before seen[smiFigures]
	after  seen[smiFigures]
	links  seen[linkFigures]
	hcas   seen[hcaFigures]
	diag   seen[diagFigures]
	kernel seen[nvidia.XidLog]
	facts  seen[hostFigures]
	load   seen[loadFigures]
	// counted are the error counters of NVLinks before and after the diagnostic.
	counted [2]seen[errorFigures]
}

// hosts sorts the observations by host of the inventory.
func (g *Gate) hosts(obs []check.Observation) []*host {
	byHost := map[string][]check.Observation{}
	for _, o := range obs {
		byHost[o.Target] = append(byHost[o.Target], o)
	}
	var out []*host
	for _, n := range g.site.Inventory.Nodes {
		of := byHost[n.Name]
		out = append(out, &host{
			name:   n.Name,
			before: last[smiFigures](of, kindBefore),
			after:  last[smiFigures](of, kindAfter),
			links:  last[linkFigures](of, kindNVLinks),
			hcas:   last[hcaFigures](of, kindHCAs),
			diag:   last[diagFigures](of, kindDiag),
			kernel: last[nvidia.XidLog](of, kindKernel),
			facts:  last[hostFigures](of, kindHost),
			load:   last[loadFigures](of, kindLoad),
			counted: [2]seen[errorFigures]{
				last[errorFigures](of, kindErrorsBefore), last[errorFigures](of, kindErrorsAfter),
			},
		})
	}
	return out
}

// last decodes the last observation of a kind.
func last[T any](obs []check.Observation, kind string) seen[T] {
	of := check.OfKind(obs, kind)
	if len(of) == 0 {
		return seen[T]{kind: kind, why: kind + " was not run"}
	}
	s := seen[T]{kind: kind, obs: of[len(of)-1]}
	fig, err := check.Decode[T](s.obs)
	if err != nil {
		s.why = err.Error()
		return s
	}
	s.fig = fig
	return s
}

// documents are the nvidia-smi documents that there are, oldest first.
func (h *host) documents() []document {
	var out []document
	for _, s := range []seen[smiFigures]{h.before, h.after} {
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

// latest is the last document.
func (h *host) latest() (document, bool) {
	docs := h.documents()
	if len(docs) == 0 {
		return document{}, false
	}
	return docs[len(docs)-1], true
}

// nvml is why NVML did not start, and where that was seen.
func (h *host) nvml() (string, check.Observation) {
	for _, s := range []seen[smiFigures]{h.after, h.before} {
		if s.ok() && s.fig.Trouble.NVML != "" {
			return s.fig.Trouble.NVML, s.obs
		}
	}
	return "", check.Observation{}
}
