package component

import (
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// Component names.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kwok              = "kwok"
	Prometheus        = "prometheus"
	Alertmanager      = "alertmanager"
	Adapter           = "prometheus-adapter"

	// Components of extras.
	Karpenter     = "karpenter"
	KAIScheduler  = "kai-scheduler"
	KAIBinder     = "kai-binder"
	KAIPodGrouper = "kai-podgrouper"

	VolcanoScheduler   = "volcano-scheduler"
	VolcanoControllers = "volcano-controllers"
	Kueue              = "kueue"

	JobSet          = "jobset"
	KubeflowTrainer = "kubeflow-trainer"
	MPIOperator     = "mpi-operator"
	KubeRay         = "kuberay-operator"

	// Components of the stack StackReal.
	GPUOperator = "gpu-operator"
	NFDMaster   = "nfd-master"

	// PrometheusReplica is the second Prometheus of a fault.
	PrometheusReplica = "prometheus-replica"
)

// Objects is a dependency in Needs, not a component: the API objects that a lab creates when its
// API server responds (definitions, roles, services).
const Objects = "api-objects"

// Serving is a dependency in Needs, not a component: the API server responds. It is not ready yet.
const Serving = "api-serving"

// Roles is a dependency in Needs, not a component: the default roles, which an API server creates for
// a second after it has begun to serve. The administrator, in group system:masters, needs none.
const Roles = "default-roles"

// Component describes how to run one program.
type Component struct {
	Name string
	// Program is the upstream program; empty: Name.
	Program string
	// Root, if set, is the directory that the program has as its root directory.
	Root string
	// Argv excludes the program.
	Argv []string
	// Env has the component's own variables as NAME=value.
	Env []string
	// Files are the contents of configuration files by path, written before each start.
	Files map[string]string
	// Copies maps the path of each copy to its source file.
	Copies map[string]string
	Probe  Probe
	// Needs lists components (or Objects) that must be ready first.
	Needs []string
	// StopGrace is the time between SIGTERM and SIGKILL.
	StopGrace time.Duration
}

// Probe is a GET request; status 200 means ready.
type Probe struct {
	URL string
	// CA, Cert and Key are files: the server's CA and the client certificate.
	CA, Cert, Key string
	// Contains, if set, must be in the response body.
	Contains string
}

// Config is the input of all components.
type Config struct {
	// Dir is the lab's directory.
	Dir string
	// Address is the lab's loopback address; all components listen on it.
	Address string
	Ports   Ports
	Purpose Purpose
	// Tokens are bearer tokens by identity of package pki; they replace certificates.
	Tokens map[string]string
	// Hosts is the number of the world's hosts; 0 without a world.
	Hosts int
	// Profiling enables profiling endpoints.
	Profiling bool
	// Stack manages the GPUs.
	Stack Stack
	// ControlNode is the node on which the control plane's pods run; only StackReal needs it.
	ControlNode string
	// With lists the lab's extras; see Extras.
	With []string
	// AlertWebhook is the URL that Alertmanager notifies; empty: none.
	AlertWebhook string
	// PodNetwork is the URL of the HTTP proxy to pod addresses.
	PodNetwork string
	// InstanceTypes is Karpenter's instance type file; see package instances.
	InstanceTypes string
	Faults        Faults
}

// Ports are the lab's ports on Address.
type Ports struct {
	// Etcd is the port of etcd's health; its clients use a socket.
	Etcd              int `json:"etcd"`
	EtcdPeer          int `json:"etcdPeer"`
	APIServer         int `json:"apiserver"`
	ControllerManager int `json:"controllerManager"`
	Scheduler         int `json:"scheduler"`
	Kwok              int `json:"kwok"`
	Prometheus        int `json:"prometheus"`
	Alertmanager      int `json:"alertmanager"`
	Adapter           int `json:"adapter"`
	// Discovery forwards Prometheus' connections to the API server, once its roles exist.
	Discovery    int `json:"discovery"`
	AlertWebhook int `json:"alertWebhook"`
	PodNetwork   int `json:"podNetwork"`

	// Ports of PrometheusReplica and of the address shared by both Prometheus.
	PrometheusReplica int `json:"prometheusReplica,omitempty"`
	PrometheusShared  int `json:"prometheusShared,omitempty"`

	KarpenterHealth  int `json:"karpenterHealth,omitempty"`
	KarpenterMetrics int `json:"karpenterMetrics,omitempty"`
	KAIScheduler     int `json:"kaiScheduler,omitempty"`
	KAIBinder        int `json:"kaiBinder,omitempty"`
	KAIPodGrouper    int `json:"kaiPodGrouper,omitempty"`

	VolcanoScheduler   int `json:"volcanoScheduler,omitempty"`
	VolcanoControllers int `json:"volcanoControllers,omitempty"`
	KueueHealth        int `json:"kueueHealth,omitempty"`
	KueueWebhook       int `json:"kueueWebhook,omitempty"`

	JobSetHealth   int `json:"jobsetHealth,omitempty"`
	JobSetWebhook  int `json:"jobsetWebhook,omitempty"`
	TrainerHealth  int `json:"trainerHealth,omitempty"`
	TrainerWebhook int `json:"trainerWebhook,omitempty"`
	// MPIOperator is MPIOperatorPort, or 0 without the extra.
	MPIOperator int `json:"mpiOperator,omitempty"`
	KubeRay     int `json:"kubeRay,omitempty"`

	GPUOperatorHealth  int `json:"gpuOperatorHealth,omitempty"`
	GPUOperatorMetrics int `json:"gpuOperatorMetrics,omitempty"`
	NFDMaster          int `json:"nfdMaster,omitempty"`
}

// Faults are control plane settings that faults change.
type Faults struct {
	// NoGangScheduler disables gang scheduling in API server and scheduler.
	NoGangScheduler bool `json:"noGangScheduler,omitempty"`
	// HalfGang serves pod groups that the schedulers ignore, and a quota of Kueue above the lab's GPUs.
	HalfGang bool `json:"halfGang,omitempty"`
	// QueueClosed lets no GPU be used through the queues of KAI, Volcano and Kueue.
	QueueClosed bool `json:"queueClosed,omitempty"`
	// KueueDown stops Kueue.
	KueueDown bool `json:"kueueDown,omitempty"`
	// KubeRayDown stops the KubeRay operator.
	KubeRayDown bool `json:"kubeRayDown,omitempty"`
	// JobOperatorsDown stops the operators of job kinds.
	JobOperatorsDown bool `json:"jobOperatorsDown,omitempty"`
	// AlertRouteMissing routes alerts to a receiver without a notifier.
	AlertRouteMissing bool `json:"alertRouteMissing,omitempty"`
	// AlertLabelDropped removes the label severity from the alerts that Prometheus sends.
	AlertLabelDropped bool `json:"alertLabelDropped,omitempty"`
	// OnCallSilent makes the webhook of receiver on-call refuse connections and notifies receiver
	// watchdog every second.
	OnCallSilent bool `json:"onCallSilent,omitempty"`
	// NodeLabelOff removes the node label from Prometheus' targets.
	NodeLabelOff bool `json:"nodeLabelOff,omitempty"`
	// PrometheusReplicaStale adds a second Prometheus that scrapes nothing and an address that
	// alternates between both.
	PrometheusReplicaStale bool `json:"prometheusReplicaStale,omitempty"`
	// PrometheusShared gives Prometheus the series of another cluster too, and a label cluster to
	// all.
	PrometheusShared bool `json:"prometheusShared,omitempty"`
	// ExportersUnscraped removes the dcgm-exporters from Prometheus' targets.
	ExportersUnscraped bool `json:"exportersUnscraped,omitempty"`
	// GPUOperatorDown stops the GPU Operator.
	GPUOperatorDown bool `json:"gpuOperatorDown,omitempty"`
	// AdapterDown stops prometheus-adapter.
	AdapterDown bool `json:"adapterDown,omitempty"`
	// AdapterRuleWrong makes the adapter's power rules query a series that does not exist.
	AdapterRuleWrong bool `json:"adapterRuleWrong,omitempty"`
	// APIServiceUnavailable points the metrics APIServices at a closed port.
	APIServiceUnavailable bool `json:"apiServiceUnavailable,omitempty"`
	// HonorLabelsOff makes labels of the scraped pod override the exporter's own.
	HonorLabelsOff bool `json:"honorLabelsOff,omitempty"`
	// ServiceRuleWrong makes the adapter's inference rules query series that no server exports.
	ServiceRuleWrong bool `json:"serviceRuleWrong,omitempty"`
	// WebhookFailsOpen points Kubeflow Trainer's webhooks at a closed port with failurePolicy
	// Ignore.
	WebhookFailsOpen bool `json:"webhookFailsOpen,omitempty"`
	// TrainerDown delays restarts of Kubeflow Trainer; 0: no fault.
	TrainerDown metav1.Duration `json:"trainerDown,omitzero"`
}

// Stops reports whether a fault stops a component.
func (f Faults) Stops(name string) bool {
	switch name {
	case Adapter:
		return f.AdapterDown
	case GPUOperator:
		return f.GPUOperatorDown
	case Kueue:
		return f.KueueDown
	case KubeRay:
		return f.KubeRayDown
	case JobSet, KubeflowTrainer, MPIOperator, VolcanoControllers:
		return f.JobOperatorsDown
	}
	return false
}

// All returns every component of a lab in display order: the base components, then those of its
// stack and its extras.
func All(c Config) []Component {
	switch c.Purpose {
	case Scheduling:
		return c.forScheduling()
	case Store:
		return c.forStore()
	case Everything:
	}
	all := []Component{
		c.Etcd(), c.APIServer(), c.ControllerManager(), c.Scheduler(),
		c.Kwok(), c.Prometheus(), c.Alertmanager(),
	}
	if c.Stack.External() {
		all = append(all, c.GPUOperator(), c.NFDMaster())
	}
	for _, name := range c.With {
		all = append(all, c.Extra(name)...)
	}
	return all
}

// PKI is the directory of the lab's certificates.
func (c Config) PKI() pki.Dir { return pki.Dir(filepath.Join(c.Dir, "pki")) }

// Conf is the path of a configuration file.
func (c Config) Conf(name string) string { return filepath.Join(c.Dir, "conf", name) }

// Data is the path of a component's data.
func (c Config) Data(name string) string { return filepath.Join(c.Dir, "data", name) }

// Kubeconfig is the path of an identity's kubeconfig.
func (c Config) Kubeconfig(identity string) string {
	return filepath.Join(c.Dir, "kubeconfig", identity+".yaml")
}

// AdminKubeconfig is the path of the administrator's kubeconfig.
func (c Config) AdminKubeconfig() string { return filepath.Join(c.Dir, "kubeconfig.yaml") }

// probe uses the administrator's certificate.
func (c Config) probe(port int, path string) Probe {
	p := c.PKI()
	return Probe{URL: c.url(port) + path, CA: p.Cert(pki.CA), Cert: p.Cert(pki.Admin), Key: p.Key(pki.Admin)}
}

// plainProbe uses plain HTTP.
func (c Config) plainProbe(port int, path string) Probe {
	p := c.probe(port, path)
	p.URL = "http://" + c.hostPort(port) + path
	return p
}
