// Package recommended checks the requirements that a platform should meet and that fail no
// run: their result is Implemented, Partially Implemented or Not Implemented, each with what
// was observed.
//
//	drivers        driver_runtime_management: the accelerator drivers are installed and verifiable
//	sharing        gpu_sharing: several workloads share one GPU
//	vgpu           virtualized_accelerator: virtual accelerators are allocated like physical ones
//	pools          advanced_inference_ingress: the Gateway API Inference Extension routes requests
//	network        high_performance_networking: network devices are exposed and allocated
//	disaggregated  disaggregated_inference: prefill and decode run as separate instances
//	sandbox        workload_sandboxing: pods can run isolated from the node's kernel
//	assessment     the judgement of a requirement from its parts
//	names          the embedded files of known names
//
// Each check is a file that observes and a file that judges.
//
// Invariants: a part that could not be observed leaves the requirement open, whatever else
// was observed. No check concludes N/A: the site declares it, or a check derives it (Exempt).
// A name alone proves nothing: a RuntimeClass must give its own kernel, a resource must be
// allocated, a pool must answer.
package recommended
