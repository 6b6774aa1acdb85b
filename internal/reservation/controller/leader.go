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

// LeaderLeaseName is the name of the coordination.k8s.io Lease.
const LeaderLeaseName = "firstlight-reservations"

// Errors that callers decide on.
var (
	// ErrLeadershipLost: another controller may lead.
	ErrLeadershipLost = errors.New("leadership lost: Lease could not be renewed")
	// ErrNotLeader: another controller leads.
	ErrNotLeader = errors.New("another controller leads")
)

// LeaderOptions configure RunAsLeader.
type LeaderOptions struct {
	Namespace string
	// Identity is unique to this process.
	Identity string
	// LeaseDuration is the duration of the Lease (default 15 s).
	LeaseDuration time.Duration
	// WaitTimeout bounds the wait for leadership; 0: until ctx ends. The error is ErrNotLeader.
	WaitTimeout time.Duration
	// OnNewLeader, if set, is called with the identity of each new leader.
	OnNewLeader func(identity string)
}

// RunAsLeader runs work while this process leads. It returns when work has ended, or with
// ErrLeadershipLost after the context of work was cancelled.
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

// leaderResult waits for the end of work, whose context has ended with the leadership.
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
