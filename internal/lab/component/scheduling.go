package component

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// What a control plane for scheduling alone is set to. None of it changes what
// the scheduler or a controller decides.
const (
	// unlimited requests a second: clients that hold themselves back leave a core idle.
	unlimitedQPS, unlimitedBurst = 100_000, 100_000
	// syncs of one kind of workload at a time: each waits for the API server most of its
	// time, and with more of them a status is written more often than it changes.
	concurrentSyncs = 4
	// inflight requests that the API server takes: all clients are the control plane's own.
	inflight = 2_000
	// gcPercent trades memory, of which such a lab needs little, for CPU: three
	// quarters of the collections do not happen.
	gcPercent = 400
)

// users are who has a token in a lab for scheduling, and what they are called. The
// API server verifies a client's certificate at every request, which takes it a
// tenth of its time.
var users = map[string]string{
	pki.Admin: "firstlight:admin", pki.ControllerManager: "system:kube-controller-manager",
	pki.Scheduler: "system:kube-scheduler",
}

// TokenUsers are the identities that need a token, in order.
func (p Purpose) TokenUsers() []string {
	if p != Scheduling {
		return nil
	}
	return slices.Sorted(maps.Keys(users))
}

// makers are the controllers that make pods. (A Deployment makes a ReplicaSet, which whoever
// fills this control plane can do as well.) Without the others nothing is
// collected, evicted or tainted, and a namespace gets nothing put into it.
var makers = []string{
	"daemonset-controller", "job-controller", "replicaset-controller", "statefulset-controller",
}

// idleAdmission are admission plugins that have nothing to decide about pods without
// volumes, quotas, service accounts, runtime classes or webhooks. NamespaceLifecycle
// would ask for namespaces that nobody looks at. TaintNodesByCondition
// would taint nodes that nobody untaints, as the node lifecycle controller does not run;
// the seconds that DefaultTolerationSeconds adds are for its evictions.
var idleAdmission = []string{
	"CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction", "ClusterTrustBundleAttest",
	"DefaultIngressClass", "DefaultStorageClass", "DefaultTolerationSeconds", "LimitRanger",
	"MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "NamespaceLifecycle", "PersistentVolumeClaimResize", "PodSecurity",
	"ResourceQuota", "RuntimeClass", "ServiceAccount", "StorageObjectInUseProtection", "TaintNodesByCondition",
	"ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook",
}

// etcdSocket is where etcd serves the API server, below the directory that all
// components run in and nobody else may enter: nothing there has to be encrypted.
const etcdSocket = "unix://etcd.sock"

func (c Config) schedulingEtcd() Component {
	s := c.Etcd()
	// With HTTP on a port of its own, what the API server speaks is served directly
	// and not by way of an HTTP server, which takes a third less.
	health := c.url(c.Ports.EtcdHTTP)
	s.Argv = with(s.Argv, "--listen-client-http-urls="+health, "--listen-client-urls="+etcdSocket, "--advertise-client-urls="+etcdSocket)
	s.Probe.URL = health + "/health"
	if c.Profiling {
		s.Argv = append(s.Argv, "--enable-pprof")
	}
	s.Env = alone(s.Env)
	s.StopGrace = throwAway
	return s
}

func (c Config) schedulingAPIServer() Component {
	s := c.APIServer()
	tokens := c.Conf("tokens.csv")
	var lines strings.Builder
	for _, identity := range c.Purpose.TokenUsers() {
		lines.WriteString(c.Tokens[identity] + "," + users[identity] + "," + identity + "\n")
	}
	s.Files = map[string]string{tokens: lines.String()}
	s.Argv = with(without(s.Argv, "--etcd-cafile", "--etcd-certfile", "--etcd-keyfile"),
		"--etcd-servers="+etcdSocket,
		"--token-auth-file="+tokens,
		// Events would be a fifth of all writes, and what they say of pods the pods say
		// themselves: who makes one is told that there is no such kind.
		"--runtime-config=scheduling.k8s.io/v1alpha2=true,/v1/events=false,events.k8s.io/v1=false",
		// Everybody has a certificate of this lab: what roles would say need not be asked.
		"--authorization-mode=AlwaysAllow",
		"--disable-admission-plugins="+strings.Join(idleAdmission, ","),
		"--enable-garbage-collector=false",
		"--enable-priority-and-fairness=false",
		"--max-requests-inflight="+strconv.Itoa(inflight),
		"--max-mutating-requests-inflight="+strconv.Itoa(inflight),
		"--etcd-compaction-interval=0",
		"--profiling="+strconv.FormatBool(c.Profiling),
	)
	s.Env = collectLess(s.Env)
	s.StopGrace = throwAway
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
	s.StopGrace = throwAway
	return s
}

// throwAway is shorter than a component's own grace: nothing of what it holds is
// wanted, and an API server would wait for its watches.
const throwAway = time.Second

// collectLess is for Go programs: less garbage collection.
func collectLess(env []string) []string {
	return append(slices.Clone(env), "GOGC="+strconv.Itoa(gcPercent))
}

// alone is for those that have little to do beside the API server: on one core they
// spend nothing on looking for work on another. It takes a tenth off what all
// programs use together.
func alone(env []string) []string {
	return append(collectLess(env), "GOMAXPROCS=1")
}

// with sets flags to other values, or adds them.
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

// without drops flags.
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
