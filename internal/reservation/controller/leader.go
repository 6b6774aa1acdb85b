// Package leader lets one of several controllers work at a time: by a Lease of
// coordination.k8s.io in the cluster that keeps the reservations.
package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// Name of the Lease.
const LeaderLeaseName = "firstlight-reservations"

// Errors that callers decide on.
var (
	// ErrLost: another may lead by now.
	ErrLeadershipLost = errors.New("this controller leads no more: its Lease could not be renewed")
	// ErrTaken: another leads.
	ErrNotLeader = errors.New("another controller leads")
)

// Options of Lead.
type LeaderOptions struct {
	Namespace string
	// Identity tells this process from all others.
	Identity string
	// Duration is after what silence another may lead (15 seconds).
	LeaseDuration time.Duration
	// Within is how long it waits for its turn; 0: as long as ctx lasts. The error is ErrTaken then.
	WaitTimeout time.Duration
	// Led is told who leads, whenever that changes; it may be nil.
	OnNewLeader func(identity string)
}

// Lead does work while this process leads, and returns when the work has ended, or with
// ErrLost after its context was ended because another may lead.
func RunAsLeader(ctx context.Context, config *rest.Config, o LeaderOptions, work func(ctx context.Context) error) error {
	client, err := coordination.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("lead: %w", err)
	}
	if o.LeaseDuration == 0 {
		o.LeaseDuration = 15 * time.Second
	}
	ctx, cancel := context.WithCancelCause(klog.NewContext(ctx, klog.Logger{}))
	defer cancel(nil)
	turn := make(chan struct{})
	result := make(chan error, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: LeaderLeaseName}, Client: client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: o.Identity},
		},
		LeaseDuration: o.LeaseDuration, RenewDeadline: o.LeaseDuration * 2 / 3, RetryPeriod: o.LeaseDuration / 8,
		ReleaseOnCancel: true, Name: LeaderLeaseName,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				close(turn)
				err := work(leading)
				result <- err
				cancel(err)
			},
			OnStoppedLeading: func() {},
			OnNewLeader: func(identity string) {
				if o.OnNewLeader != nil {
					o.OnNewLeader(identity)
				}
			},
		},
	})
	if err != nil {
		return fmt.Errorf("lead: %w", err)
	}
	if o.WaitTimeout > 0 {
		timer := time.AfterFunc(o.WaitTimeout, func() {
			select {
			case <-turn:
			default:
				cancel(fmt.Errorf("%w: %s", ErrNotLeader, elector.GetLeader()))
			}
		})
		defer timer.Stop()
	}
	elector.Run(ctx)
	return leaderResult(ctx, turn, result)
}

// outcome waits for work that was begun: it is told to end when this process leads no more.
func leaderResult(ctx context.Context, turn <-chan struct{}, result <-chan error) error {
	select {
	case <-turn:
	default:
		return context.Cause(ctx)
	}
	told := ctx.Err() != nil
	err := <-result
	if err == nil && !told {
		return ErrLeadershipLost
	}
	return err
}
