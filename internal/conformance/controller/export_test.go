package controller

import (
	"context"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// LosePods kills the pods of a service as the check kills a controller. It returns the killed
// pods and why they have no successors; empty if they have.
func LosePods(ctx context.Context, c *Check, cluster *kube.Cluster, rec check.Recorder, service string) (killed []string, problem string, err error) {
	w := &observation{Check: c, cluster: cluster, rec: check.Observer{Recorder: rec, Clock: c.deps.Clock}}
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
	return killed, noSuccessor(before, after), nil
}

// SetOperators replaces the embedded operators.
func (c *Check) SetOperators(operators []Operator) { c.operators = operators }
