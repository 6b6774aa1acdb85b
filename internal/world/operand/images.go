package operand

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

var tag = regexp.MustCompile(`:[^:/]+$`)

// imageID is the container runtime's image ID: the repository with the digest of the tag at pull
// time. The lab's kwok stages compute the same ID for images that were not pushed again.
func imageID(image string, repushed bool) string {
	if strings.Contains(image, "@") {
		return image
	}
	content := image
	if repushed {
		content += " pushed again"
	}
	sum := sha256.Sum256([]byte(content))
	return tag.ReplaceAllString(image, "") + "@sha256:" + hex.EncodeToString(sum[:])
}

// images corrects the image IDs of the operands' pods.
func (o *Operands) images(ctx context.Context) error {
	outdated, err := o.otherImages()
	if err != nil {
		return err
	}
	var errs []error
	for _, p := range outdated {
		errs = append(errs, o.patchImages(ctx, p))
	}
	return errors.Join(errs...)
}

// otherImages returns the operands' pods with a wrong image ID, corrected.
func (o *Operands) otherImages() ([]*corev1.Pod, error) {
	repushed := map[string]string{} // operand by node
	for _, n := range o.world.Recent().GPUNodes() {
		repushed[n.Name] = n.OperandRepushed
	}
	pods, err := o.pods.List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("list operand pods: %w", err)
	}
	type content struct {
		image    string
		repushed bool
	}
	ids := map[content]string{}
	var out []*corev1.Pod
	for _, p := range pods {
		if p.DeletionTimestamp != nil {
			continue
		}
		operand := p.Labels["app"]
		var want *corev1.Pod // a copy, once it differs
		for i, c := range p.Status.ContainerStatuses {
			has := content{c.Image, operand != "" && repushed[p.Spec.NodeName] == operand}
			if ids[has] == "" {
				ids[has] = imageID(has.image, has.repushed)
			}
			if c.ImageID == "" || c.ImageID == ids[has] {
				continue
			}
			if want == nil {
				want = p.DeepCopy()
			}
			want.Status.ContainerStatuses[i].ImageID = ids[has]
		}
		if want != nil {
			out = append(out, want)
		}
	}
	return out, nil
}

func (o *Operands) patchImages(ctx context.Context, p *corev1.Pod) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": p.ResourceVersion},
		"status":   map[string]any{"containerStatuses": p.Status.ContainerStatuses},
	})
	if err != nil {
		return fmt.Errorf("encode images of pod %s: %w", p.Name, err)
	}
	_, err = o.client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("patch images of pod %s: %w", p.Name, err)
	}
	return nil
}
