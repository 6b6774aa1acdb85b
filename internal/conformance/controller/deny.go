package controller

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deny creates a resource that must be denied, and records the answer of the API server.
func (w *observation) deny(ctx context.Context, target string, v Variant) error {
	obj, err := w.operator.render(w.operator.Valid, w.values("firstlight-"+target, w.operator.Work.Plain), variant{over: v.Over})
	if err != nil {
		return err
	}
	attempt := w.begin(kindDenial, target, "create %s %s: %s", obj.GetKind(), obj.GetName(), v.Why)
	answer := denialFigures{Why: v.Why}
	created, err := w.cluster.Dynamic.Resource(w.operator.Resource.gvr()).Namespace(w.namespace).Create(ctx, obj, metav1.CreateOptions{})
	if err == nil {
		answer.Admitted = true
		return recordRaw(attempt, answer, withoutManagedFields(created))
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) { // an error without a status is not a denial
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return attempt.Record(nil, err)
	}
	s := status.Status()
	answer.Code, answer.Reason, answer.Message = s.Code, string(s.Reason), s.Message
	if s.Details != nil {
		for _, c := range s.Details.Causes {
			answer.Causes = append(answer.Causes, string(c.Type)+" "+c.Field+": "+c.Message)
		}
	}
	return recordRaw(attempt, answer, s)
}
