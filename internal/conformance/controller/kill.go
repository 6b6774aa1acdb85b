package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// killGrace is the shortest grace period, in seconds, with which the kubelet ends a pod: zero
// would delete its object at once, whether it runs or not.
const killGrace = 1

// kill kills the controller, by name and UID where it is a pod.
func (w *observation) kill(ctx context.Context, before controllerFigures) (killed []string, err error) {
	if len(before.Pods) == 0 {
		what, err := w.deps.KillOutside(ctx, w.operator.Name)
		if err == nil && what == "" {
			err = errors.New("nothing was killed")
		}
		if err != nil {
			return nil, fmt.Errorf("kill the controller of %s: %w", w.operator.Title, err)
		}
		return []string{what}, nil
	}
	namespace, _, _ := strings.Cut(before.Service, "/")
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
