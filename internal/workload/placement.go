package workload

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
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
	// UIDs are those of the bound pods, by pod name.
	UIDs map[string]types.UID `json:"uids,omitempty"`
	// GroupRefused is set if the gang scheduler refused the group as a whole.
	GroupRefused bool `json:"groupRefused"`
	// Unstarted is set if the job has no pods although no scheduler holds it back: its
	// controller does not act.
	Unstarted bool `json:"unstarted,omitempty"`
	// Denied is the API server's refusal of the pods that the job's controller creates.
	Denied string `json:"denied,omitempty"`
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
			current.Unstarted = g.unstarted(w.state())
			if current.Unstarted {
				current.Denied = denied(g.listWarnings(context.WithoutCancel(ctx)))
			}
			return current, fmt.Errorf("watch placement of %s: %w: %s", g.Spec.Name, w.ended(ctx), g.Explain(context.WithoutCancel(ctx)))
		}
	}
}

// holds reports whether the scheduler decides about the job before its controller creates pods.
func (g *Gang) holds() bool {
	_, kueue := g.scheduler.(Kueue)
	_, volcano := g.kind.(VolcanoJob)
	return kueue || volcano
}

// enqueued reports whether Volcano has admitted a PodGroup to its queue: its job controller has to create
// the pods then.
func enqueued(group *unstructured.Unstructured) bool {
	phase, _, err := unstructured.NestedString(group.Object, "status", "phase")
	return err == nil && phase == "Inqueue"
}

// decides reports whether a refusal is a decision about the gang, of which this number of pods exists.
// Volcano also refuses a group of pods that it does not know yet.
func (g *Gang) decides(group *unstructured.Unstructured, reason string, pods int) bool {
	if pods == 0 {
		return g.holds() && !enqueued(group)
	}
	return !strings.Contains(reason, "/0 tasks in gang unschedulable")
}

// unstarted reports whether the controller of the gang's job has to create its pods and has not.
func (g *Gang) unstarted(s state) bool {
	if s.job == nil || len(s.pods) > 0 {
		return false
	}
	if _, holds := g.scheduler.(Kueue); holds { // it resumes the job when it has admitted it
		return !s.job.suspended && slices.ContainsFunc(s.groups, func(group *unstructured.Unstructured) bool {
			_, admitted := condition(group, "conditions", "Admitted", "True")
			return admitted && remoteCluster(group) == ""
		})
	}
	if _, own := g.kind.(VolcanoJob); own { // its pods follow the scheduler's decision about its PodGroup
		return len(s.groups) == 0 || slices.ContainsFunc(s.groups, enqueued)
	}
	return true
}

// PlacementNow is the current placement.
func (g *Gang) PlacementNow(ctx context.Context) (Placement, error) {
	pods, err := g.Pods(ctx)
	if err != nil {
		return Placement{Wanted: g.Spec.Pods}, err
	}
	groups, err := g.groups(ctx)
	if err != nil {
		return Placement{Wanted: g.Spec.Pods}, err
	}
	return g.placementOf(state{pods: pods, groups: groups}), nil
}

// groups lists the group objects of the gang.
func (g *Gang) groups(ctx context.Context) ([]*unstructured.Unstructured, error) {
	if g.scheduler == nil {
		return nil, nil
	}
	list, err := g.cluster.Dynamic.Resource(g.scheduler.GroupResource()).Namespace(g.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list %s of %s: %w", g.scheduler.GroupResource().Resource, g.Spec.Name, err)
	}
	var own []*unstructured.Unstructured
	for i := range list.Items {
		if g.owns(&list.Items[i]) {
			own = append(own, &list.Items[i])
		}
	}
	return own, nil
}

func (g *Gang) placementOf(s state) Placement {
	members := members(s.pods)
	p := Placement{Wanted: g.Spec.Pods, Exist: len(members), Replaced: g.vanished(s.pods), Nodes: map[string]string{}, UIDs: map[string]types.UID{}}
	current := make(map[string]bool, len(members))
	for _, pod := range members {
		current[pod.Name] = true
	}
	for i := range s.pods {
		pod := &s.pods[i]
		g.note(pod)
		if !current[pod.Name] && pod.Spec.NodeName != "" {
			p.Replaced++
		}
	}
	for _, pod := range members {
		c := scheduled(pod)
		switch {
		case pod.Spec.NodeName != "":
			p.Bound++
			p.Nodes[pod.Name], p.UIDs[pod.Name] = pod.Spec.NodeName, pod.UID
		case c != nil && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable:
			p.Refused++
			p.Messages = append(p.Messages, c.Message)
		}
	}
	for _, group := range s.groups {
		reason, refused := g.scheduler.Refused(group)
		if refused && g.decides(group, reason, p.Exist) {
			p.GroupRefused = true
			p.Messages = append(p.Messages, reason)
		}
	}
	p.Messages = distinct(p.Messages)
	return p
}
