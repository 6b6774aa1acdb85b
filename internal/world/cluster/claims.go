package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/world"
)

// held has a pod's GPUs.
type held struct {
	// given are the GPUs of its claims; claimed are their indices by container.
	given   []world.Given
	claimed map[string][]int
	// plugged are those of the device plugin.
	plugged []int
}

// all returns the GPUs that a container may use: those of its claims and those of the device
// plugin.
func (h held) all(container string) []int {
	return slices.Concat(h.claimed[container], h.plugged)
}

// readClaims reads the allocations of the pod's claims, as the kubelet does before it starts a
// container.
func (w *worker) readClaims() (held, error) {
	h := held{claimed: map[string][]int{}}
	for _, ref := range w.pod.Spec.ResourceClaims {
		name := claimName(w.current(), ref)
		if name == "" {
			return h, fmt.Errorf("prepare dynamic resources: no ResourceClaim for %s", ref.Name)
		}
		claim, err := w.getClaim(name)
		if err != nil {
			return h, err
		}
		if err := h.add(w.pod, ref.Name, claim); err != nil {
			return h, err
		}
	}
	return h, nil
}

// getClaim retries until the API server responds.
func (w *worker) getClaim(name string) (*resourcev1.ResourceClaim, error) {
	var claim *resourcev1.ResourceClaim
	err := poll.Until(w.ctx, 200*time.Millisecond, "ResourceClaim "+name, func(ctx context.Context) (err error) {
		ctx, cancel := context.WithTimeout(ctx, cleanupTimeout)
		defer cancel()
		claim, err = w.runtime.client.ResourceV1().ResourceClaims(w.pod.Namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return poll.Stop(err)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("prepare dynamic resources: %w", err)
	}
	return claim, nil
}

// claimName returns the ResourceClaim of a pod's entry: named there, or created from a template
// and named in the status.
func claimName(pod *corev1.Pod, ref corev1.PodResourceClaim) string {
	if ref.ResourceClaimName != nil {
		return *ref.ResourceClaimName
	}
	for _, s := range pod.Status.ResourceClaimStatuses {
		if s.Name == ref.Name && s.ResourceClaimName != nil {
			return *s.ResourceClaimName
		}
	}
	return ""
}

// add adds a claim's GPUs to the containers that use it. Devices of other drivers are ignored.
func (h *held) add(pod *corev1.Pod, ref string, claim *resourcev1.ResourceClaim) error {
	reserved := slices.ContainsFunc(claim.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool { return r.UID == pod.UID })
	if claim.Status.Allocation == nil || !reserved {
		return fmt.Errorf("prepare dynamic resources: ResourceClaim %s is not allocated to and reserved for the pod", claim.Name)
	}
	for _, r := range claim.Status.Allocation.Devices.Results {
		if r.Driver != draDriver {
			continue
		}
		index := deviceIndex(r.Device)
		if index < 0 || r.Pool != pod.Spec.NodeName {
			return fmt.Errorf("prepare dynamic resources: ResourceClaim %s: no device %s/%s on node %s", claim.Name, r.Pool, r.Device, pod.Spec.NodeName)
		}
		given := world.Given{Index: index, Claim: string(claim.UID)}
		if !slices.Contains(h.given, given) {
			h.given = append(h.given, given)
		}
		for _, c := range pod.Spec.Containers {
			if names(c, ref, r.Request) && !slices.Contains(h.claimed[c.Name], index) {
				h.claimed[c.Name] = append(h.claimed[c.Name], index)
			}
		}
	}
	return nil
}

// names reports whether a container uses a claim, or the request of a claim.
func names(c corev1.Container, ref, request string) bool {
	return slices.ContainsFunc(c.Resources.Claims, func(have corev1.ResourceClaim) bool {
		return have.Name == ref && (have.Request == "" || have.Request == request)
	})
}
