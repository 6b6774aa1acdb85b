package component

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// Settings of a control plane for scheduling. None changes a decision of the scheduler or a
// controller.
const (
	// Client-side rate limits would leave a core idle.
	unlimitedQPS, unlimitedBurst = 100_000, 100_000
	// concurrentSyncs per workload kind. Each sync mostly waits for the API server; with more,
	// statuses are written more often than they change.
	concurrentSyncs = 4
)

// makers are the controllers that create pods. Deployments are left out because callers can create
// ReplicaSets. Without other controllers nothing is garbage-collected, evicted or tainted, and
// namespaces get no default objects.
var makers = []string{
	"daemonset-controller", "job-controller", "replicaset-controller", "statefulset-controller",
}

// idleAdmission are admission plugins without effect on pods without volumes, quotas, service
// accounts, runtime classes or webhooks. NamespaceLifecycle would read namespaces.
// TaintNodesByCondition would add taints that only the node lifecycle controller, which does not
// run, removes. DefaultTolerationSeconds only matters for its evictions.
var idleAdmission = []string{
	"CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction", "ClusterTrustBundleAttest",
	"DefaultIngressClass", "DefaultStorageClass", "DefaultTolerationSeconds", "LimitRanger",
	"MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "NamespaceLifecycle", "PersistentVolumeClaimResize", "PodSecurity",
	"ResourceQuota", "RuntimeClass", "ServiceAccount", "StorageObjectInUseProtection", "TaintNodesByCondition",
	"ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook",
}

func (c Config) schedulingEtcd() Component {
	s := c.Etcd()
	if c.Profiling {
		s.Argv = append(s.Argv, "--enable-pprof")
	}
	s.Env = append(s.Env, oneCore)
	s.StopGrace = throwAway
	return s
}

func (c Config) schedulingAPIServer() Component {
	s := c.privateAPIServer()
	s.Argv = with(s.Argv,
		// Events would be a fifth of all writes and repeat what the pods' status has. Clients get
		// NotFound.
		"--runtime-config=scheduling.k8s.io/v1alpha2=true,/v1/events=false,events.k8s.io/v1=false",
		// All clients have a certificate of this lab, so roles are not needed.
		"--authorization-mode=AlwaysAllow",
		"--disable-admission-plugins="+strings.Join(idleAdmission, ","),
		"--enable-garbage-collector=false",
		"--etcd-compaction-interval=0",
	)
	return s
}

func (c Config) schedulingControllerManager() Component {
	s := c.ControllerManager()
	s.Argv = with(without(s.Argv, "--node-monitor-grace-period", "--horizontal-pod-autoscaler-sync-period",
		"--horizontal-pod-autoscaler-downscale-stabilization", "--cluster-signing-cert-file", "--cluster-signing-key-file",
		"--service-account-private-key-file", "--root-ca-file"),
		"--controllers="+strings.Join(makers, ","),
		"--use-service-account-credentials=false",
		"--enable-garbage-collector=false",
		"--kube-api-qps="+strconv.Itoa(unlimitedQPS),
		"--kube-api-burst="+strconv.Itoa(unlimitedBurst),
		"--concurrent-daemonset-syncs="+strconv.Itoa(concurrentSyncs),
		"--concurrent-job-syncs="+strconv.Itoa(concurrentSyncs),
		"--concurrent-replicaset-syncs="+strconv.Itoa(concurrentSyncs),
		"--concurrent-statefulset-syncs="+strconv.Itoa(concurrentSyncs),
		"--profiling="+strconv.FormatBool(c.Profiling),
	)
	s.Env = alone(s.Env)
	s.Needs = []string{APIServer}
	s.StopGrace = throwAway
	return s
}

func (c Config) schedulingScheduler() Component {
	s := c.Scheduler()
	config := c.Conf("scheduler.yaml")
	s.Files = map[string]string{config: `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection:
  kubeconfig: ` + strconv.Quote(c.Kubeconfig(pki.Scheduler)) + `
  qps: ` + strconv.Itoa(unlimitedQPS) + `
  burst: ` + strconv.Itoa(unlimitedBurst) + `
leaderElection:
  leaderElect: false
enableProfiling: ` + strconv.FormatBool(c.Profiling) + `
# A pod has a handful of nodes to choose from: more would wait for each other.
parallelism: 2
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 10
`}
	s.Env = alone(s.Env)
	s.Needs = []string{APIServer}
	s.StopGrace = throwAway
	return s
}

// throwAway is shorter than a component's own grace period: no data is kept.
const throwAway = time.Second

// oneCore limits a Go program to one core. Components with little work then do not search other
// cores for work, which saves a tenth of the CPU of all components.
const oneCore = "GOMAXPROCS=1"

// alone is for a component with little work.
func alone(env []string) []string { return append(collectLess(env), oneCore) }

// with replaces or adds flags.
func with(argv []string, flags ...string) []string {
	out := slices.Clone(argv)
	for _, f := range flags {
		if i := indexOfFlag(out, f); i >= 0 {
			out[i] = f
		} else {
			out = append(out, f)
		}
	}
	return out
}

// without removes flags.
func without(argv []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(argv), func(a string) bool { return indexOfFlag(names, a) >= 0 })
}

func indexOfFlag(argv []string, flag string) int {
	name, _, _ := strings.Cut(flag, "=")
	return slices.IndexFunc(argv, func(a string) bool {
		have, _, _ := strings.Cut(a, "=")
		return have == name
	})
}
