package fanout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/schedule"
)

// Publication says where a shard's report goes, and whose it is.
type Publication struct {
	// Namespace and Name are the ConfigMap's.
	Namespace, Name string
	// RunID is the run's; Job and JobUID the Job that owns the ConfigMap.
	RunID, Job, JobUID string
	// Shard of Shards it is; Tool the version of firstlight.
	Shard, Shards int
	Tool          string
}

// ParsePublication reads the values of --publish, --publish-run and --publish-owner.
func ParsePublication(to, runID, owner string) (Publication, error) {
	namespace, name, ok := strings.Cut(to, "/")
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return Publication{}, fmt.Errorf("--publish %q: want NAMESPACE/NAME of a ConfigMap", to)
	}
	job, uid, ok := strings.Cut(owner, "/")
	if !ok || job == "" || uid == "" || runID == "" {
		return Publication{}, fmt.Errorf("--publish needs --publish-run RUN and --publish-owner JOB/UID, and they are %q and %q", runID, owner)
	}
	return Publication{Namespace: namespace, Name: name, RunID: runID, Job: job, JobUID: uid}, nil
}

// publishWithin is how long a report is tried to be published: the work of minutes
// is not given up for an API server that restarts.
const publishWithin = 3 * time.Minute

// Publish writes a report. One of the same run that is there already, of a try
// before this one, is replaced; one of anything else is not touched.
func (p Publication) Publish(ctx context.Context, client kubernetes.Interface, r schedule.Report) error {
	want := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: p.Name, Namespace: p.Namespace, Labels: labels(p.RunID, roleReport),
		OwnerReferences: owner(p.Job, types.UID(p.JobUID)),
	}}
	want.Labels[LabelShard] = strconv.Itoa(p.Shard)
	err := fullRoom.seal(sealed{
		Format: sealedFormat, Run: p.RunID, Job: p.JobUID, Shard: p.Shard, Shards: p.Shards, Tool: p.Tool, Report: r,
	}, want)
	if err != nil {
		return fmt.Errorf("publish the report to %s/%s: %w", p.Namespace, p.Name, err)
	}
	backoff := wait.Backoff{Duration: 250 * time.Millisecond, Factor: 2, Cap: 10 * time.Second, Steps: 1 << 20}
	ctx, cancel := context.WithTimeout(ctx, publishWithin)
	defer cancel()
	var last error
	err = wait.ExponentialBackoffWithContext(ctx, backoff, func(ctx context.Context) (bool, error) {
		last = p.write(ctx, client, want)
		if permanent(last) {
			return false, last
		}
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("publish the report to %s/%s: %w", p.Namespace, p.Name, errors.Join(last, context.Cause(ctx)))
	}
	return nil
}

// errForeign is of a ConfigMap that is there and is not ours to replace.
var errForeign = errors.New("it exists and is not a report of this run and Job")

func permanent(err error) bool {
	return errors.Is(err, errForeign) || apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsUnauthorized(err)
}

func (p Publication) write(ctx context.Context, client kubernetes.Interface, want *corev1.ConfigMap) error {
	maps := client.CoreV1().ConfigMaps(p.Namespace)
	_, err := maps.Create(ctx, want, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	there, err := maps.Get(ctx, p.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if there.Labels[kube.LabelRun] != p.RunID || !owned(there, p.JobUID) {
		return errForeign
	}
	there.Labels, there.Annotations = want.Labels, want.Annotations
	there.Data, there.BinaryData = want.Data, want.BinaryData
	_, err = maps.Update(ctx, there, metav1.UpdateOptions{})
	return err
}

func owned(m *corev1.ConfigMap, jobUID string) bool {
	return slices.ContainsFunc(m.OwnerReferences, func(o metav1.OwnerReference) bool { return string(o.UID) == jobUID })
}

// WorthAnotherTry says that a shard could not do its work at all: nothing of what it
// had to test was observed. Anything else is an answer, which another try would only
// repeat.
func WorthAnotherTry(r schedule.Report) bool {
	for _, res := range r.Recipes {
		if res.Verdict != check.Unobserved && res.Verdict != check.Blocked {
			return false
		}
	}
	return true
}
