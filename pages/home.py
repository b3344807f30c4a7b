from viz_core.ui.page import show
from viz_core.ui.scenes import home_axes, home_way

show(__file__, [home_way.SCENE, home_axes.SCENE])
