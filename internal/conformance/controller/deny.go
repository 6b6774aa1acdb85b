package controller

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deny creates a resource that must be denied and records what the API server says.
func (w *walk) deny(ctx context.Context, target string, v Variant) error {
	obj, err := w.operator.render(w.operator.Valid, w.values("firstlight-"+target, w.operator.Work.Plain), variant{over: v.Over})
	if err != nil {
		return err
	}
	l := w.look(kindDenial, target, "create %s %s: %s", obj.GetKind(), obj.GetName(), v.Why)
	seen := denialFigures{Why: v.Why}
	made, err := w.cluster.Dynamic.Resource(w.operator.Resource.gvr()).Namespace(w.namespace).Create(ctx, obj, metav1.CreateOptions{})
	if err == nil {
		seen.Admitted = true
		return w.keep(l, seen, bare(made), nil)
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) { // no answer, which is no denial
		if ctx.Err() != nil {
			return ctx.Err() //nolint:wrapcheck // interrupted
		}
		return w.keep(l, nil, nil, err)
	}
	s := status.Status()
	seen.Code, seen.Reason, seen.Message = s.Code, string(s.Reason), s.Message
	if s.Details != nil {
		for _, c := range s.Details.Causes {
			seen.Causes = append(seen.Causes, string(c.Type)+" "+c.Field+": "+c.Message)
		}
	}
	return w.keep(l, seen, s, nil)
}
