package lab

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/manifest"
	"github.com/firstlight/firstlight/internal/lab/process"
	"github.com/firstlight/firstlight/internal/poll"
)

// trainerWebhooks is the configuration with Kubeflow Trainer's validating webhooks.
const trainerWebhooks = "validator.trainer.kubeflow.org"

// propagationTimeout bounds how long the API server takes to use a changed configuration, usually
// a second.
const propagationTimeout = 3 * time.Minute

// SetWebhookFailsOpen points Kubeflow Trainer's validating webhooks at a closed port with
// failurePolicy Ignore, or restores them. It returns when the API server uses the configuration.
// The lab must have the extra trainer.
func (l *Lab) SetWebhookFailsOpen(ctx context.Context, on bool) error {
	return l.change(ctx, "webhook fails open", func(f *component.Faults) { f.WebhookFailsOpen = on }, l.switchWebhooks)
}

func (l *Lab) switchWebhooks(ctx context.Context, f component.Faults) error {
	if !slices.Contains(l.With(), component.ExtraTrainer) {
		return errNoTrainer
	}
	client, err := l.dynamicClient()
	if err != nil {
		return err
	}
	if err := l.updateWebhooks(ctx, client, f.WebhookFailsOpen); err != nil {
		return err
	}
	return awaitAdmitted(ctx, client, f.WebhookFailsOpen)
}

var errNoTrainer = fmt.Errorf("%w the extra %s", errAbsent, component.ExtraTrainer)

// SetTrainerDown delays restarts of Kubeflow Trainer by wait; 0 restores immediate restarts and
// returns when the program runs.
func (l *Lab) SetTrainerDown(ctx context.Context, wait time.Duration) error {
	return l.change(ctx, "trainer down", func(f *component.Faults) { f.TrainerDown.Duration = wait }, l.holdTrainer)
}

func (l *Lab) holdTrainer(ctx context.Context, f component.Faults) error {
	if !slices.Contains(l.With(), component.ExtraTrainer) {
		return errNoTrainer
	}
	wait := f.TrainerDown.Duration
	l.sup.HoldDown(component.KubeflowTrainer, wait)
	if wait > 0 {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, propagationTimeout, fmt.Errorf("%s not running after %s", component.KubeflowTrainer, propagationTimeout))
	defer cancel()
	return poll.Until(ctx, pollInterval, component.KubeflowTrainer+" to run again", func(context.Context) error {
		for _, s := range l.sup.Status() {
			if s.Name == component.KubeflowTrainer && s.State != process.Ready {
				return fmt.Errorf("state %s", s.State)
			}
		}
		return nil
	})
}

var errAdmitted = errors.New("it was admitted")

// updateWebhooks patches the webhook configuration.
func (l *Lab) updateWebhooks(ctx context.Context, client dynamic.Interface, open bool) error {
	l.mu.Lock()
	conf := l.conf
	l.mu.Unlock()
	if open {
		conf.Ports.TrainerWebhook = closedPort
	}
	values, err := extraValues(conf)
	if err != nil {
		return err
	}
	_, objects, err := manifest.Extra(component.ExtraTrainer, values)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == "ValidatingWebhookConfiguration" && o.GetName() == trainerWebhooks
	})
	if i < 0 {
		return fmt.Errorf("update webhooks: %s not found", trainerWebhooks)
	}
	hooks, _, err := unstructured.NestedSlice(objects[i].Object, "webhooks")
	if err != nil {
		return fmt.Errorf("update webhooks of %s: %w", trainerWebhooks, err)
	}
	for _, h := range hooks {
		if m, ok := h.(map[string]any); ok && open {
			m["failurePolicy"] = "Ignore"
		}
	}
	patch, err := json.Marshal(map[string]any{"webhooks": hooks})
	if err != nil {
		return fmt.Errorf("update webhooks of %s: %w", trainerWebhooks, err)
	}
	r, err := resourceOf(client, objects[i])
	if err != nil {
		return err
	}
	if _, err := r.Patch(ctx, trainerWebhooks, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("update webhooks of %s: %w", trainerWebhooks, err)
	}
	return nil
}

// awaitAdmitted dry-runs an invalid TrainJob until it is admitted, or until the webhook denies it.
func awaitAdmitted(ctx context.Context, client dynamic.Interface, want bool) error {
	invalid := sampleJob(map[string]any{"name": "PET_NNODES", "value": "7"})
	ctx, cancel := context.WithTimeoutCause(ctx, propagationTimeout, fmt.Errorf("not in effect after %s", propagationTimeout))
	defer cancel()
	return poll.Until(ctx, pollInterval, fmt.Sprintf("an invalid TrainJob to be admitted: %t", want), func(ctx context.Context) error {
		err := sendSample(ctx, client, invalid)
		switch {
		case want:
			return err
		case apierrors.IsForbidden(err):
			return nil
		default:
			return fmt.Errorf("the webhook did not deny it: %w", cmp.Or(err, errAdmitted))
		}
	})
}
