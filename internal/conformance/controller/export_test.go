package controller

import (
	"context"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// LosePods kills the pods behind a service as the check kills a controller, and says
// what it killed and what keeps their successors from being such; empty: nothing.
func LosePods(ctx context.Context, c *Check, cluster *kube.Cluster, rec check.Recorder, service string) (killed []string, why string, err error) {
	w := &walk{Check: c, cluster: cluster, rec: rec}
	hook := webhookFigures{Found: true, Service: service}
	before, err := w.observeController(ctx, hook, targetBefore)
	if err != nil {
		return nil, "", err
	}
	if killed, err = w.kill(ctx, before); err != nil {
		return nil, "", err
	}
	if err := w.awaitSuccessor(ctx, hook, before, true); err != nil {
		return nil, "", err
	}
	after, err := w.controller(ctx, hook, nil)
	if err != nil {
		return nil, "", err
	}
	return killed, succeeded(before, after), nil
}
