package rule

import "github.com/firstlight/firstlight/internal/diag"

// Rules for node profiles and accelerators.
var (
	Quantity           = newRule("quantity", diag.Error, "invalid or unreasonable Kubernetes quantity", "write a quantity: 16, 500m, 64Gi")
	LabelText          = newRule("label-text", diag.Error, "invalid name of a label, taint or resource", "write prefix/name with letters, digits, -, _ and ., at most 63 of them after the prefix")
	ProfileDirectory   = newRule("profile-directory", diag.Error, "node profile in the directory of another provider", "correct metadata.labels.provider, or move the file to nodes/PROVIDER/")
	ProfileLabels      = newRule("profile-labels", diag.Error, "node profile whose labels contradict its spec", "an accelerated profile has an accelerator and spec.gpu, a system profile has neither")
	ProfileChoice      = newRule("profile-choice", diag.Error, "no default, or several defaults, among the profiles for one purpose", "label exactly one of them: default among an accelerator's profiles, generic among a provider's")
	DuplicateProfile   = newRule("duplicate-profile", diag.Warning, "two profiles of a provider with the same instance type and accelerator", "remove one of them; tests use only one")
	UnusedProfile      = newRule("unused-profile", diag.Note, "node profile of a provider or accelerator that no recipe uses", "remove the profile, or write an overlay for it")
	NoProfile          = newRule("no-profile", diag.Error, "recipe without a node profile", "add a profile to nodes/PROVIDER/; recipes/README.md describes the format")
	UnknownAccelerator = newRule("unknown-accelerator", diag.Error, "accelerator that is not in accelerators.yaml", "correct the name, or add the accelerator to accelerators.yaml with its sources")
	GPUCount           = newRule("gpu-count", diag.Error, "profile with more GPUs than a node with this accelerator can have", "correct spec.gpu.count; accelerators.yaml has the highest count that is sold")
	GPUProduct         = newRule("gpu-product", diag.Error, "product name that does not belong to the accelerator", "write the name that GPU feature discovery reports, or add it to accelerators.yaml with its source")
	GPUArch            = newRule("gpu-arch", diag.Error, "CPU architecture that the accelerator is not sold with", "correct spec.arch; accelerators.yaml has the architectures of the hosts")
	GPUDevice          = newRule("gpu-device", diag.Error, "GPU resource quantity different from the GPU count of the node", "make the quantity of the extended resource with use: gpu equal to spec.gpu.count")
	DeviceSource       = newRule("device-source", diag.Error, "device attributed to a component whose pods do not provide it", "correct from in the profile, or add the resource to brings of the workload in the footprint that provides it")
	GPUTaint           = newRule("gpu-taint", diag.Error, "accelerated profile without the GPU taint: pods without tolerations may run there", "add the taint nvidia.com/gpu=present:NoSchedule, which the recipes expect")
	Allocatable        = newRule("allocatable", diag.Error, "allocatable resources exceed the capacity of the node", "correct spec.allocatable, or spec.resources")

	profileRules = []diag.Rule{
		Quantity, LabelText, ProfileDirectory, ProfileLabels, ProfileChoice, DuplicateProfile, UnusedProfile, NoProfile, UnknownAccelerator,
		GPUCount, GPUProduct, GPUArch, GPUDevice, DeviceSource, GPUTaint, Allocatable,
	}
)

// Rules for footprints, and for the pods that they give a recipe.
var (
	NoFootprint       = newRule("no-footprint", diag.Error, "component without a footprint: its pods are unknown", "add footprints/NAME.yaml; recipes/README.md describes the format")
	FootprintVersion  = newRule("footprint-version", diag.Error, "footprint of another chart version than the recipe has", "run firstlight recipe footprint update, or write the footprint of this version")
	FootprintShape    = newRule("footprint-shape", diag.Error, "footprint whose parts contradict each other", "correct the part that the message names; recipes/README.md describes the format")
	NotRendered       = newRule("not-rendered", diag.Error, "rendered footprint without a lock for the values of a recipe", "run firstlight recipe footprint update")
	NoClass           = newRule("no-class", diag.Error, "workload without a class: the nodes it may run on are unknown", "add the workload to the footprint, with its class")
	FootprintValue    = newRule("footprint-value", diag.Error, "Helm value of the wrong type at a path that a footprint reads", "correct the value, or the path in the footprint")
	PodField          = newRule("pod-field", diag.Error, "pod field that Kubernetes would reject", "write it as in the Kubernetes API; the message names the field")
	Replicas          = newRule("replicas", diag.Error, "workload without pods", "correct the number of replicas, or add a when condition for the workload")
	DuplicateWorkload = newRule("duplicate-workload", diag.Error, "two workloads of the same kind, name and namespace in one recipe", "give them when conditions that exclude each other")
	Manifest          = newRule("manifest", diag.Error, "manifest of a recipe that cannot be read for its pods", "correct the manifest: YAML documents, each an object")
	NoPods            = newRule("no-pods", diag.Error, "recipe that schedules no pods", "add components; a recipe without pods cannot be tested")
	Unplaced          = newRule("unplaced", diag.Warning, "system pods that neither a selector nor a taint keeps off GPU nodes", "give them a node selector for system nodes, or remove their toleration of the GPU taint")
	ExpectedResource  = newRule("expected-resource", diag.Warning, "expected workload that no component of the recipe schedules", "correct the kind, name or namespace in expectedResources, or add the workload to the footprint")
	ValuePath         = newRule("value-path", diag.Warning, "footprint reads a value path without a default that no recipe sets", "correct the path; if the chart has it without a default, add it to defaults with an empty value")
	KeyTypo           = newRule("key-typo", diag.Warning, "selector, affinity or toleration with a key that no node has but that is close to one", "correct the key")

	footprintRules = []diag.Rule{
		NoFootprint, FootprintVersion, FootprintShape, NotRendered, NoClass, FootprintValue, PodField, Replicas, DuplicateWorkload, Manifest, NoPods,
		Unplaced, ExpectedResource, ValuePath, KeyTypo,
	}
)
