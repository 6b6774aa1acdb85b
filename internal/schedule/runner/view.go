package runner

import (
	"sync"
)

// view is the picture of a cell that watches keep, for the goroutine that runs it.
type view struct {
	layout *layout
	// changed holds one token when there is something new.
	changed chan struct{}

	mu      sync.Mutex
	picture *picture
}

func newView(l *layout) *view {
	return &view{layout: l, changed: make(chan struct{}, 1), picture: newPicture()}
}

// update changes the picture. What the barrier comes to is no change of the cell.
func (v *view) update(of string, change func(*picture) bool) {
	v.mu.Lock()
	changed := change(v.picture)
	if changed && !v.layout.isBarrier(of) {
		v.picture.version++
	}
	v.mu.Unlock()
	if changed {
		select {
		case v.changed <- struct{}{}:
		default: // it knows that there is something new
		}
	}
}

// look calls f with the picture as it is; f must not keep it.
func (v *view) look(f func(*picture)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f(v.picture)
}

// make adds a workload to those that the cell has.
func (v *view) make(works ...*work) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, w := range works {
		v.layout.works[w.of] = w
	}
}

func (v *view) putWorkload(of string, account workload) {
	v.update(of, func(p *picture) bool {
		was, known := p.workloads[of]
		p.workloads[of] = account
		return !known || was != account
	})
}

func (v *view) dropWorkload(of string) {
	v.update(of, func(p *picture) bool {
		_, known := p.workloads[of]
		delete(p.workloads, of)
		return known
	})
}

func (v *view) putPod(is pod)  { v.update(is.of, func(p *picture) bool { return p.putPod(is) }) }
func (v *view) dropPod(is pod) { v.update(is.of, func(p *picture) bool { return p.dropPod(is) }) }

func (v *view) putNode(is node) {
	v.update("", func(p *picture) bool {
		was, known := p.nodes[is.name]
		p.nodes[is.name] = is
		return !known || was.version != is.version
	})
}

func (v *view) dropNode(is node) {
	v.update("", func(p *picture) bool {
		_, known := p.nodes[is.name]
		delete(p.nodes, is.name)
		return known
	})
}

func (v *view) putGang(is gang) {
	v.update(is.of, func(p *picture) bool {
		was, known := p.gangs[is.name]
		p.gangs[is.name] = is
		return !known || was != is
	})
}

// putTrouble keeps what keeps a workload's controller from making pods.
func (v *view) putTrouble(of, message string) {
	v.update(of, func(p *picture) bool {
		was := p.troubles[of]
		p.troubles[of] = message
		return was != message
	})
}
