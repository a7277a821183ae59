from .comparison import contest as contest
from .comparison import distribution as distribution
from .comparison import trap as trap
from .comparison import trapped as trapped
from .comparison import written as written
from .filling import ORDERS as ORDERS
from .filling import Blanks as Blanks
from .filling import filling_steps as filling_steps
from .generation_trace import watch as watch
from .scoring import score_texts as score_texts
from .settings import Settings as Settings
from .stepper import State as State
from .stepper import Stepper as Stepper
from .strategy import DecodingStrategy as DecodingStrategy

STRATEGIES: dict[str, DecodingStrategy]
