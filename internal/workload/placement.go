package workload

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Placement is a scheduler's decision about a gang.
type Placement struct {
	// Wanted is the number of pods of the gang, Exist the number of existing ones.
	Wanted int `json:"wanted"`
	Exist  int `json:"exist"`
	// Bound pods are on a node; Refused pods are unschedulable.
	Bound   int `json:"bound"`
	Refused int `json:"refused"`
	// Replaced pods were on a node and are deleted, are being deleted, or have a successor.
	Replaced int `json:"replaced,omitempty"`
	// Nodes are the nodes of the bound pods, by pod name.
	Nodes map[string]string `json:"nodes,omitempty"`
	// GroupRefused is set if the gang scheduler refused the group as a whole.
	GroupRefused bool `json:"groupRefused"`
	// Messages are the scheduler's.
	Messages []string `json:"messages,omitempty"`
}

// decided reports whether the decision is complete: each pod is placed or refused, or the
// group was refused before its pods were created.
func (p Placement) decided() bool {
	if p.Exist == 0 {
		return p.GroupRefused
	}
	return p.Bound+p.Refused >= p.Wanted
}

// begun reports whether the scheduler has decided about any part of the gang.
func (p Placement) begun() bool { return p.Bound+p.Refused > 0 || p.GroupRefused }

// Placement watches until the scheduler has decided about every pod of the gang and the
// decision has been stable for settle. For a scheduler that does not report refused pods, it
// watches until the placement has been stable for settle after the first refusal. If ctx
// ends first, it returns the last placement and an error.
func (g *Gang) Placement(ctx context.Context, settle time.Duration) (Placement, error) {
	w := g.watch(ctx)
	defer w.stop()
	if err := w.synced(ctx); err != nil {
		return Placement{Wanted: g.Spec.Pods}, fmt.Errorf("watch placement of %s: %w", g.Spec.Name, err)
	}
	var current Placement
	timer := g.clock.NewTimer(settle)
	defer timer.Stop()
	stable := false
	for {
		next := g.placementOf(w.state())
		if moved := next.Bound != current.Bound || next.Replaced != current.Replaced || next.Exist != current.Exist || next.decided() != current.decided() || next.begun() != current.begun(); moved || !stable {
			stable = next.decided() || (next.begun() && next.Exist == next.Wanted)
			timer.Reset(settle)
		}
		current = next
		select {
		case <-w.changed:
		case <-timer.C():
			if stable {
				return current, nil
			}
		case <-ctx.Done():
			return current, fmt.Errorf("watch placement of %s: %w: %s", g.Spec.Name, w.ended(ctx), g.Explain(context.WithoutCancel(ctx)))
		}
	}
}

// PlacementNow is the current placement.
func (g *Gang) PlacementNow(ctx context.Context) (Placement, error) {
	pods, err := g.Pods(ctx)
	if err != nil {
		return Placement{Wanted: g.Spec.Pods}, err
	}
	return g.placementOf(state{pods: pods}), nil
}

func (g *Gang) placementOf(s state) Placement {
	members := members(s.pods)
	p := Placement{Wanted: g.Spec.Pods, Exist: len(members), Replaced: g.vanished(s.pods), Nodes: map[string]string{}}
	for i := range s.pods {
		pod := &s.pods[i]
		g.note(pod)
		member := slices.ContainsFunc(members, func(m corev1.Pod) bool { return m.Name == pod.Name })
		if !member && pod.Spec.NodeName != "" {
			p.Replaced++
		}
	}
	for i := range members {
		pod := &members[i]
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
		if reason, refused := g.scheduler.Refused(group); refused {
			p.GroupRefused = true
			p.Messages = append(p.Messages, reason)
		}
	}
	p.Messages = distinct(p.Messages)
	return p
}
