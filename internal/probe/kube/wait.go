package kube

import (
	"context"

	"k8s.io/apimachinery/pkg/watch"
)

// waitUntilEmpty lists objects, and again after every change, until count is 0. It returns
// the error of list or watch, or the cause of the end of ctx.
func waitUntilEmpty(
	ctx context.Context,
	list func(ctx context.Context) (count int, resourceVersion string, err error),
	watchFrom func(ctx context.Context, resourceVersion string) (watch.Interface, error),
) error {
	for {
		count, resourceVersion, err := list(ctx)
		if err != nil || count == 0 {
			return err
		}
		w, err := watchFrom(ctx, resourceVersion)
		if err != nil {
			return err
		}
		select {
		case <-w.ResultChan():
			w.Stop()
		case <-ctx.Done():
			w.Stop()
			return context.Cause(ctx)
		}
	}
}
