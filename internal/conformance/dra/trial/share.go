package trial

import (
	"context"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Share creates a ResourceClaim that several pods may name as Shared.
func (r Runner) Share(ctx context.Context, check, name string, c Claim) error {
	claim := &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: r.Namespace, Labels: kube.Labels(r.RunID, check)}, Spec: c.spec(),
	}
	if _, err := r.Cluster.Client.ResourceV1().ResourceClaims(r.Namespace).Create(ctx, claim, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create resource claim %s/%s: %w", r.Namespace, name, err)
	}
	return nil
}

// LookClaim sees a claim by its name.
func (r Runner) LookClaim(ctx context.Context, name string) (ClaimState, error) {
	claim, err := r.Cluster.Client.ResourceV1().ResourceClaims(r.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return ClaimState{}, fmt.Errorf("read resource claim %s/%s: %w", r.Namespace, name, err)
	}
	return *claimState(claim), nil
}
