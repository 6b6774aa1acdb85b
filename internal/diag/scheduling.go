package diag

// What can be wrong with node profiles and accelerators.
var (
	Quantity         = Rule{"quantity", Error, "a text that is no quantity of Kubernetes, or none that makes sense there", "write a quantity: 16, 500m, 64Gi"}
	LabelText        = Rule{"label-text", Error, "a label, taint or resource name that Kubernetes refuses", "write prefix/name with letters, digits, -, _ and ., at most 63 of them behind the prefix"}
	ProfileDirectory = Rule{"profile-directory", Error, "a node profile whose provider is not the directory that it is in", "correct metadata.labels.provider, or move the file to nodes/PROVIDER/"}
	ProfileKind      = Rule{"profile-labels", Error, "the labels of a node profile and what it has contradict each other", "an accelerated profile has an accelerator and spec.gpu, a system profile has neither"}
	Defaults         = Rule{"profile-choice", Error, "of several profiles for one purpose none, or more than one, is labelled as the one to test on", "label exactly one of them: default of an accelerator's profiles, generic of a provider's"}
	TwiceProfile     = Rule{"duplicate-profile", Warning, "two profiles of a provider are of one instance type and accelerator", "remove one of them; tests only see one"}
	UnusedProfile    = Rule{"unused-profile", Note, "a node profile of a provider or accelerator that no recipe asks for", "remove the profile, or write an overlay for it"}
	NoProfile        = Rule{"no-profile", Error, "there is no node profile for a recipe", "add a profile to nodes/PROVIDER/; recipes/README.md says what it holds"}
	NoAccelerator    = Rule{"unknown-accelerator", Error, "an accelerator that accelerators.yaml does not have", "correct the name, or add the accelerator to accelerators.yaml with its sources"}
	GPUCount         = Rule{"gpu-count", Error, "a profile with more GPUs than a node with this accelerator has", "correct spec.gpu.count; accelerators.yaml has the most that can be bought in one node"}
	GPUProduct       = Rule{"gpu-product", Error, "a product name that is not the accelerator's", "write the name that GPU feature discovery reports, or add it to accelerators.yaml with its source"}
	GPUArch          = Rule{"gpu-arch", Error, "an architecture that the accelerator is not built into", "correct spec.arch; accelerators.yaml has the architectures of the hosts"}
	GPUDevice        = Rule{"gpu-device", Error, "the GPUs that pods can ask for are not those that the node has", "make the quantity of the extended resource with use: gpu equal to spec.gpu.count"}
	DeviceSource     = Rule{"device-source", Error, "a component is said to bring a device to nodes, and none of its pods does", "correct from in the profile, or add the resource to brings of the workload in the footprint that brings it"}
	GPUTaint         = Rule{"gpu-taint", Error, "an accelerated profile without the GPU taint: whatever tolerates nothing may run there", "add the taint nvidia.com/gpu=present:NoSchedule, as the recipes expect it"}
	Allocatable      = Rule{"allocatable", Error, "more is allocatable than the node has", "correct spec.allocatable, or spec.resources"}

	profileRules = []Rule{Quantity, LabelText, ProfileDirectory, ProfileKind, Defaults, TwiceProfile, UnusedProfile, NoProfile, NoAccelerator, GPUCount, GPUProduct, GPUArch, GPUDevice, DeviceSource, GPUTaint, Allocatable}
)

// What can be wrong with footprints, and with what they make of a recipe.
var (
	NoFootprint      = Rule{"no-footprint", Error, "a component of which nobody knows what pods it schedules", "add footprints/NAME.yaml; recipes/README.md says what it holds"}
	FootprintVersion = Rule{"footprint-version", Error, "a footprint of another version of the chart than the recipe has", "run firstlight recipe footprint update, or write the footprint of this version"}
	FootprintShape   = Rule{"footprint-shape", Error, "a footprint whose parts contradict each other", "correct the part that the message names; recipes/README.md says what a footprint holds"}
	NoRender         = Rule{"not-rendered", Error, "a rendered footprint has no lock for the values of a recipe", "run firstlight recipe footprint update"}
	NoClass          = Rule{"no-class", Error, "nothing says on which nodes a workload's pods may be", "add the workload to the footprint, with its class"}
	FootprintPath    = Rule{"footprint-value", Error, "the value at a path that a footprint reads is not what the field wants", "correct the value, or the path in the footprint"}
	PodField         = Rule{"pod-field", Error, "a part of a pod that Kubernetes would refuse", "write it as in the Kubernetes API; the message names the part"}
	Replicas         = Rule{"replicas", Error, "a workload without pods", "correct the number of replicas, or say with when that the workload is not there"}
	TwiceWorkload    = Rule{"duplicate-workload", Error, "two workloads of one kind, name and namespace are there at once", "give them conditions (when) that exclude each other"}
	Manifest         = Rule{"manifest", Error, "a manifest of a recipe that can't be read for its pods", "correct the manifest: YAML documents, each an object"}
	NoPods           = Rule{"no-pods", Error, "a recipe that schedules no pods at all", "add components; a recipe without pods can't be tested"}
	Unplaced         = Rule{"unplaced", Warning, "system pods that neither a selector nor a taint keeps off GPU nodes", "give them a node selector for system nodes, or take their toleration of the GPU taint away"}
	Expected         = Rule{"expected-resource", Warning, "a workload that a recipe expects is not among those that its components schedule", "correct the kind, name or namespace in expectedResources, or add the workload to the footprint"}
	UnknownPath      = Rule{"value-path", Warning, "a footprint reads a value path that neither its defaults have nor any recipe sets", "correct the path; if the chart has it without a default, name it in defaults with an empty value"}
	NearKey          = Rule{"key-typo", Warning, "a selector, affinity or toleration names a key that no node has, and that is close to one that nodes have", "correct the key"}

	footprintRules = []Rule{NoFootprint, FootprintVersion, FootprintShape, NoRender, NoClass, FootprintPath, PodField, Replicas, TwiceWorkload, Manifest, NoPods, Unplaced, Expected, UnknownPath, NearKey}
)
