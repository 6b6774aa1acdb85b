package controller

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// killGrace is the shortest that a pod can be given and still be ended by its kubelet:
// zero would take it out of the API at once, whether it runs or not.
const killGrace = 1

// kill ends the controller, by name and UID where it is a pod.
func (w *walk) kill(ctx context.Context, before controllerFigures) (killed []string, err error) {
	if len(before.Pods) == 0 {
		what, err := w.deps.KillOutside(ctx, w.operator.Name)
		if err != nil {
			return nil, fmt.Errorf("kill the controller of %s: %w", w.operator.Title, err)
		}
		return []string{what}, nil
	}
	namespace, _ := split(before.Service)
	for _, p := range victims(before) {
		uid := types.UID(p.UID)
		err := w.cluster.Client.CoreV1().Pods(namespace).Delete(ctx, p.Name, metav1.DeleteOptions{
			GracePeriodSeconds: new(int64(killGrace)), Preconditions: &metav1.Preconditions{UID: &uid},
		})
		if err != nil {
			return killed, fmt.Errorf("kill pod %s/%s: %w", namespace, p.Name, err)
		}
		killed = append(killed, fmt.Sprintf("pod %s/%s %s", namespace, p.Name, p.UID))
	}
	return killed, nil
}

// victims are the pod that holds the lease, or all where none is known to.
func victims(before controllerFigures) []podState {
	if before.Lease != nil {
		for _, p := range before.Pods {
			// The holder is the pod's name, an underscore, and a random part.
			if strings.HasPrefix(before.Lease.Holder, p.Name+"_") {
				return []podState{p}
			}
		}
	}
	return before.Pods
}

// succeeded says what keeps after from being the successor of before; empty when it is.
func succeeded(before, after controllerFigures) string {
	if why := unwell(after); why != "" {
		return why
	}
	if len(before.Pods) == 0 {
		if before.Lease == nil || after.Lease == nil {
			return "nobody held a lease by which a successor could be told"
		}
		if before.Lease.Holder == after.Lease.Holder {
			return "lease " + after.Lease.Name + " is held by " + after.Lease.Holder + " as before"
		}
		return ""
	}
	for _, old := range victims(before) {
		for _, p := range after.Pods {
			if p.UID == old.UID {
				return "pod " + p.Name + " is there as before"
			}
		}
	}
	return ""
}

// unwell says what keeps somebody from serving and reconciling; empty when nothing is seen to.
func unwell(f controllerFigures) string {
	if len(f.Pods) > 0 {
		for _, p := range f.Pods {
			if !p.Ready || p.Leaving {
				return fmt.Sprintf("pod %s is not ready: %s", p.Name, p.Phase)
			}
		}
		return ""
	}
	if f.Outside == "" {
		return "service " + f.Service + " has no pods and leads nowhere else"
	}
	switch {
	case f.Lease == nil:
		return "it runs outside of the cluster's pods, and no lease tells that it does"
	case f.Lease.Holder == "":
		return "nobody holds lease " + f.Lease.Name
	case !f.Lease.Moved:
		return fmt.Sprintf("lease %s of %s was not renewed while it was watched", f.Lease.Name, f.Lease.Holder)
	}
	return ""
}
