package runner

import (
	"sync"
)

// view is the objectSet of a scenario, updated by watches and read by its run.
type view struct {
	layout *layout
	// changed holds one token after a change.
	changed chan struct{}

	mu        sync.Mutex
	objectSet *objectSet
}

func newView(l *layout) *view {
	return &view{layout: l, changed: make(chan struct{}, 1), objectSet: newObjectSet()}
}

// update changes the objectSet. Changes of barriers do not count.
func (v *view) update(key string, change func(*objectSet) bool) {
	v.mu.Lock()
	changed := change(v.objectSet)
	if changed && !v.layout.isBarrier(key) {
		v.objectSet.version++
	}
	v.mu.Unlock()
	if changed {
		select {
		case v.changed <- struct{}{}:
		default: // already notified
		}
	}
}

// read calls f with the current objectSet, which f must not retain.
func (v *view) read(f func(*objectSet)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f(v.objectSet)
}

// make adds workloads to the scenario.
func (v *view) make(workloads ...*workload) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, w := range workloads {
		v.layout.workloads[w.key] = w
	}
}

func (v *view) putWorkload(key string, status workloadStatus) {
	v.update(key, func(p *objectSet) bool {
		was, known := p.statuses[key]
		p.statuses[key] = status
		return !known || was != status
	})
}

func (v *view) dropWorkload(key string) {
	v.update(key, func(p *objectSet) bool {
		_, known := p.statuses[key]
		delete(p.statuses, key)
		return known
	})
}

func (v *view) putPod(is pod)  { v.update(is.key, func(p *objectSet) bool { return p.putPod(is) }) }
func (v *view) dropPod(is pod) { v.update(is.key, func(p *objectSet) bool { return p.dropPod(is) }) }

func (v *view) putNode(is node) {
	v.update("", func(p *objectSet) bool {
		was, known := p.nodes[is.name]
		p.nodes[is.name] = is
		return !known || was.version != is.version
	})
}

func (v *view) dropNode(is node) {
	v.update("", func(p *objectSet) bool {
		_, known := p.nodes[is.name]
		delete(p.nodes, is.name)
		return known
	})
}

func (v *view) putGang(is gang) {
	v.update(is.key, func(p *objectSet) bool {
		was, known := p.gangs[is.name]
		p.gangs[is.name] = is
		return !known || was != is
	})
}

// putProblem records why a workload's controller cannot create pods.
func (v *view) putProblem(key, message string) {
	v.update(key, func(p *objectSet) bool {
		was := p.problems[key]
		p.problems[key] = message
		return was != message
	})
}
