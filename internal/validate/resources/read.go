package resources

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
)

// parallel is the number of concurrent reads.
const parallel = 16

// readAll reads every object once. A missing object is not an error.
func (l *reader) readAll(ctx context.Context, expected []Object) ([]state, error) {
	if err := l.discover(expected); err != nil {
		return nil, err
	}
	out := make([]state, len(expected))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range expected {
		group.Go(func() error {
			s := state{Object: expected[i]}
			if err := l.read(ctx, &s); err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("read %s: %w", s.id(), err)
			}
			out[i] = s
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return out, nil
}

// read reads the state of one object.
func (l *reader) read(ctx context.Context, s *state) error {
	apps, get := l.Client.AppsV1(), metav1.GetOptions{}
	switch s.Kind {
	case kindDeployment:
		d, err := apps.Deployments(s.Namespace).Get(ctx, s.Name, get)
		if err != nil {
			return err
		}
		s.deployment(d)
	case kindDaemonSet:
		d, err := apps.DaemonSets(s.Namespace).Get(ctx, s.Name, get)
		if err != nil {
			return err
		}
		s.daemonSet(d)
	case kindStatefulSet:
		d, err := apps.StatefulSets(s.Namespace).Get(ctx, s.Name, get)
		if err != nil {
			return err
		}
		s.statefulSet(d)
	case kindJob:
		j, err := l.Client.BatchV1().Jobs(s.Namespace).Get(ctx, s.Name, get)
		if err != nil {
			return err
		}
		s.jobOf(j)
	default:
		return l.other(ctx, s)
	}
	return nil
}

// resource is a served resource of a kind.
type resource struct {
	schema.GroupVersionResource
	namespaced bool
}

// discover lists the served resources of the kinds other than workloads.
func (l *reader) discover(expected []Object) error {
	wanted := map[string]bool{}
	for _, o := range expected {
		switch o.Kind {
		case kindDeployment, kindDaemonSet, kindStatefulSet, kindJob:
		default:
			wanted[o.Kind] = true
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	_, lists, err := l.Client.Discovery().ServerGroupsAndResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return fmt.Errorf("list served kinds: %w", err)
	}
	l.served = map[string][]resource{}
	for _, list := range lists {
		gv, parseErr := schema.ParseGroupVersion(list.GroupVersion)
		if parseErr != nil {
			return fmt.Errorf("list served kinds: %w", parseErr)
		}
		for _, r := range list.APIResources {
			if wanted[r.Kind] && !strings.Contains(r.Name, "/") { // without subresources
				l.served[r.Kind] = append(l.served[r.Kind], resource{gv.WithResource(r.Name), r.Namespaced})
			}
		}
	}
	for kind := range wanted {
		if err != nil && len(l.served[kind]) == 0 {
			return fmt.Errorf("list resources of kind %s: %w", kind, err) // its group may be one that failed
		}
	}
	return nil
}

// other reads an object of any kind, from every group that serves the kind.
func (l *reader) other(ctx context.Context, s *state) error {
	s.NoKind = len(l.served[s.Kind]) == 0
	for _, r := range l.served[s.Kind] {
		var from dynamic.ResourceInterface = l.Dynamic.Resource(r.GroupVersionResource)
		if r.namespaced {
			from = l.Dynamic.Resource(r.GroupVersionResource).Namespace(s.Namespace)
		}
		o, err := from.Get(ctx, s.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		s.Found, s.Deleted = true, o.GetDeletionTimestamp() != nil
		return nil
	}
	return nil
}
