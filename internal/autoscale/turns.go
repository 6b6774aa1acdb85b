package autoscale

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/autoscale/render"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// yield ends the holder where the load needs its GPU, and waits until it is free.
func (d *drive) yield(ctx context.Context) error {
	if !d.setup.Turns {
		return nil
	}
	if err := d.deleteJob(ctx, render.Holder); err != nil {
		return err
	}
	return d.awaitEnd(ctx, render.Holder, snapshot.RoleHolder)
}

// takeBack gives the GPU of the load that has ended to the holder again.
func (d *drive) takeBack(ctx context.Context) error {
	if !d.setup.Turns {
		return nil
	}
	if err := d.awaitEnd(ctx, render.Load, snapshot.RoleLoad); err != nil {
		return err
	}
	return d.createJob(ctx, render.HolderJob(d.values))
}

// awaitEnd waits until a Job and its pods are gone, as long as the load may take.
func (d *drive) awaitEnd(ctx context.Context, job, role string) error {
	limited, cancel := context.WithTimeout(ctx, d.setup.Deadlines[snapshot.HopLoad].Duration)
	defer cancel()
	selector := fmt.Sprintf("%s=%s,%s=%s", kube.LabelRun, d.setup.Run, kube.LabelRole, role)
	for {
		_, err := d.cluster.Client.BatchV1().Jobs(d.setup.Namespace).Get(limited, job, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("wait for the end of job %s: %w", job, err)
		}
		gone := err != nil
		pods, err := d.cluster.Client.CoreV1().Pods(d.setup.Namespace).List(limited, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return fmt.Errorf("wait for the end of the pods of job %s: %w", job, err)
		}
		if gone && len(pods.Items) == 0 {
			return nil
		}
		if err := d.wait(limited, lookEvery); err != nil {
			return fmt.Errorf("wait for the end of job %s: %w", job, err)
		}
	}
}
