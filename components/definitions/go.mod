// Modules whose CustomResourceDefinitions a lab has without their programs.
module firstlight/components/definitions

go 1.26.0

require github.com/prometheus-operator/prometheus-operator v0.85.0
