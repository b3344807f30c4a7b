from viz_core.ui.page import show
from viz_core.ui.scenes import (
    attention_group,
    attention_head,
    attention_learning,
    attention_mosaic,
    attention_pair,
    attention_probes,
    attention_texts,
    attention_value,
    attention_window,
)

show(__file__, [
    attention_head.SCENE, attention_mosaic.SCENE, attention_group.SCENE, attention_pair.SCENE, attention_texts.SCENE,
    attention_value.SCENE, attention_probes.SCENE, attention_window.SCENE, attention_learning.SCENE,
])
