// Package training is the world's training job: a step-time model and the lines
// that torchtitan or Megatron-LM print for it, rank by rank.
//
// It owns what the ranks of one pod print. Steps take modelled time: what is
// printed is the model's figure, however little wall time went by.
//
// It never looks at Kubernetes or at what anybody expects of the figures.
package training
