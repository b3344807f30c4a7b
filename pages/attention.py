from viz_core.ui.page import show
from viz_core.ui.scenes import attention_head

show(__file__, [attention_head.SCENE])
