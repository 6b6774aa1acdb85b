package controller

import (
	"cmp"
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
// ErrLeadershipLost after the context of work was cancelled. When ctx ends, no other process leads
// before work has ended.
func RunAsLeader(ctx context.Context, config *rest.Config, o LeaderOptions, work func(ctx context.Context) error) error {
	o.LeaseDuration = cmp.Or(o.LeaseDuration, 15*time.Second)
	renewDeadline := o.LeaseDuration * 2 / 3
	client, err := coordination.NewForConfig(leaderConfig(config, renewDeadline))
	if err != nil {
		return fmt.Errorf("lead: %w", err)
	}
	electing, stop := context.WithCancelCause(klog.NewContext(context.WithoutCancel(ctx), klog.Logger{}))
	defer stop(nil)
	turn := make(chan struct{})
	unlessLeading := func(cause error) {
		select {
		case <-turn:
		default:
			stop(cause)
		}
	}
	result := make(chan error, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: LeaderLeaseName}, Client: client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: o.Identity},
		},
		LeaseDuration: o.LeaseDuration, RenewDeadline: renewDeadline, RetryPeriod: o.LeaseDuration / 8,
		ReleaseOnCancel: true, Name: LeaderLeaseName,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				close(turn)
				working, cancel := context.WithCancelCause(leading)
				defer cancel(nil)
				defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
				err := work(working)
				result <- err
				stop(err) // releases the Lease
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
	defer context.AfterFunc(ctx, func() { unlessLeading(context.Cause(ctx)) })()
	if o.WaitTimeout > 0 {
		timer := time.AfterFunc(o.WaitTimeout, func() { unlessLeading(fmt.Errorf("%w: %s", ErrNotLeader, elector.GetLeader())) })
		defer timer.Stop()
	}
	elector.Run(electing)
	lost := electing.Err() == nil && ctx.Err() == nil
	select {
	case <-turn:
	default:
		return context.Cause(electing)
	}
	err = <-result
	if err == nil && lost {
		return ErrLeadershipLost
	}
	return err
}

// leaderConfig returns a configuration with which one request that hangs, or one connection whose
// other end is gone, does not lose the leadership: a request ends before the deadline, and with
// HTTP/1.1 its connection ends with it.
func leaderConfig(config *rest.Config, renewDeadline time.Duration) *rest.Config {
	c := rest.CopyConfig(config)
	c.Timeout = max(time.Second, renewDeadline/2)
	c.NextProtos = []string{"http/1.1"}
	return c
}
