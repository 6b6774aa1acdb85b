package workload

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Placement is what a scheduler has made of a gang.
type Placement struct {
	// Wanted is how many pods the gang has; Exist how many of them are there.
	Wanted int `json:"wanted"`
	Exist  int `json:"exist"`
	// Bound are placed on a node; Refused were looked at and not placed.
	Bound   int `json:"bound"`
	Refused int `json:"refused"`
	// Nodes of the bound pods, by pod name.
	Nodes map[string]string `json:"nodes,omitempty"`
	// GroupRefused says that the gang scheduler refused the group as such.
	GroupRefused bool `json:"groupRefused"`
	// Messages of the scheduler.
	Messages []string `json:"messages,omitempty"`
}

// decided tells whether the scheduler has looked at everything: each pod is
// placed or refused, or the group was refused before its pods came to be.
func (p Placement) decided() bool {
	if p.Exist == 0 {
		return p.GroupRefused
	}
	return p.Bound+p.Refused >= p.Wanted
}

// looked tells whether the scheduler has looked at the gang at all.
func (p Placement) looked() bool { return p.Bound+p.Refused > 0 || p.GroupRefused }

// Placement watches until the scheduler has decided about every pod of the gang
// and its decision has then stood for settle; or, when it lets pods it refused
// go unmentioned, until what it did has stood for settle after its first refusal.
// When ctx ends first, the error says so and the placement is the last one seen.
func (g *Gang) Placement(ctx context.Context, settle time.Duration) (Placement, error) {
	w := g.watch(ctx)
	defer w.stop()
	if err := w.synced(ctx); err != nil {
		return Placement{Wanted: g.Spec.Pods}, fmt.Errorf("watch placement of %s: %w", g.Spec.Name, err)
	}
	var current Placement
	timer := g.clock.NewTimer(settle)
	defer timer.Stop()
	standing := false
	for {
		next := g.placementOf(w.state())
		if moved := next.Bound != current.Bound || next.Exist != current.Exist || next.decided() != current.decided() || next.looked() != current.looked(); moved || !standing {
			standing = next.decided() || (next.looked() && next.Exist == next.Wanted)
			timer.Reset(settle)
		}
		current = next
		select {
		case <-w.changed:
		case <-timer.C():
			if standing {
				return current, nil
			}
		case <-ctx.Done():
			return current, fmt.Errorf("watch placement of %s: %w: %s", g.Spec.Name, w.ended(ctx), g.Explain(context.WithoutCancel(ctx)))
		}
	}
}

// PlacementNow is what the scheduler has made of the gang so far.
func (g *Gang) PlacementNow(ctx context.Context) (Placement, error) {
	pods, err := g.Pods(ctx)
	if err != nil {
		return Placement{Wanted: g.Spec.Pods}, err
	}
	return g.placementOf(state{pods: pods}), nil
}

func (g *Gang) placementOf(s state) Placement {
	p := Placement{Wanted: g.Spec.Pods, Exist: len(s.pods), Nodes: map[string]string{}}
	for i := range s.pods {
		pod := &s.pods[i]
		c := scheduled(pod)
		switch {
		case pod.Spec.NodeName != "":
			p.Bound++
			p.Nodes[pod.Name] = pod.Spec.NodeName
		case c != nil && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable:
			p.Refused++
			p.Messages = append(p.Messages, c.Message)
		}
	}
	for _, group := range s.groups {
		if why, refused := g.scheduler.Refused(group); refused {
			p.GroupRefused = true
			p.Messages = append(p.Messages, why)
		}
	}
	p.Messages = distinct(p.Messages)
	return p
}
